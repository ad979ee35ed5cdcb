// What changes, as it changes: `on('chat', ({ chat, size }) => ...)` returns what ends it. Topics:
// chat, ledger, channels; `all` after a gap, when anything may have changed; `state` of the stream.
//
// All tabs of a browser share one stream: by a SharedWorker, or else one tab has it and passes on to the
// others what it hears. Browsers allow six connections to a gateway, and a room's page needs some of them.

import { Stream } from './stream.js';

const NAME = 'tapeway-console';
const HERE = 25_000; // milliseconds between two signs of life of a tab
const listeners = new Map();
let link = null;

export function on(topic, fn) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(fn);
  return () => listeners.get(topic).delete(fn);
}

function publish(topic, data) {
  for (const fn of [...(listeners.get(topic) ?? [])]) fn(data);
}

function take({ changes, state }) {
  if (state) publish('state', state);
  for (const { topic, data } of changes ?? []) publish(topic, data);
}

// Begin to follow, if the tab does not yet.
export function start() {
  link ??= 'SharedWorker' in window ? throughWorker() : throughTabs();
}

export function stop() {
  link?.end();
  link = null;
}

function throughWorker() {
  const worker = new SharedWorker(new URL('./live-worker.js', import.meta.url), { type: 'module', name: NAME });
  const { port } = worker;
  const bye = () => port.postMessage('bye');
  const again = (event) => { if (event.persisted) port.postMessage('start'); };
  const timer = setInterval(() => port.postMessage('here'), HERE);
  const end = () => {
    clearInterval(timer);
    window.removeEventListener('pagehide', bye);
    window.removeEventListener('pageshow', again);
    bye();
    port.close();
  };
  port.onmessage = ({ data }) => take(data);
  worker.onerror = () => { end(); if (link) link = throughTabs(); };
  window.addEventListener('pagehide', bye);
  window.addEventListener('pageshow', again);
  port.postMessage('start');
  return { end };
}

// The tab that holds the lock has the stream; when it closes, another one gets the lock, and goes on
// after what was heard last. Without locks, which plain http has not, each tab has its own stream.
function throughTabs() {
  const channel = navigator.locks && 'BroadcastChannel' in window ? new BroadcastChannel(NAME) : null;
  const known = { state: 'away', last: '' };
  let [holds, ended] = [false, false];
  let release = () => {};
  const held = new Promise((resolve) => { release = resolve; });
  const hear = (message) => {
    if (message.state) known.state = message.state;
    if (message.last) known.last = message.last;
    take(message);
  };
  const share = (message) => { hear(message); channel?.postMessage(message); };
  const stream = new Stream((changes, last) => share({ changes, last }), (state) => share({ state }));
  const hold = () => {
    if (ended) return undefined;
    holds = true;
    stream.start(known.last);
    return held;
  };
  if (channel) {
    channel.onmessage = ({ data }) => {
      if (!data.asks) hear(data);
      else if (holds) channel.postMessage(known);
    };
    channel.postMessage({ asks: true });
    take({ changes: [{ topic: 'all' }] }); // another tab may have the stream, which said so before
    navigator.locks.request(NAME, hold);
  } else hold();
  return {
    end() {
      ended = true;
      stream.stop();
      release();
      channel?.close();
    },
  };
}
