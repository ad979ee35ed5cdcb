// What changes, as it changes: `on('chat', ({ chat, size }) => ...)` returns what ends it. Topics:
// chat, ledger, channels; `all` after a gap, when anything may have changed; `state` of the stream.
//
// All tabs of a browser share one stream: by a SharedWorker, or else one tab has it and passes on to the
// others what it hears. Browsers allow six connections to a gateway, and a room's page needs some of them.

import { Stream } from './stream.js';

const NAME = 'tapeway-console';
const HERE = 25_000; // milliseconds between two signs of life of a tab
const ANSWER = 3_000; // milliseconds within which the tab that has the stream answers
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
// after what was heard last. Without locks, which plain http has not, each tab has its own stream; so
// has a tab that gets no answer from the holder, since phones suspend tabs without a word.
function throughTabs() {
  const shares = navigator.locks && 'BroadcastChannel' in window;
  const known = { state: 'away', last: '' };
  let channel = null;
  let [holds, follows, away, unanswered] = [false, false, false, 0];
  let release = () => {};
  const hear = (message) => {
    if (message.state) known.state = message.state;
    if (message.last) known.last = message.last;
    take(message);
  };
  const share = (message) => { hear(message); if (holds) channel?.postMessage(message); };
  const stream = new Stream((changes, last) => share({ changes, last }), (state) => share({ state }));
  const follow = () => {
    clearTimeout(unanswered);
    follows = true;
    stream.start(known.last);
  };
  const ask = () => {
    if (!channel || follows) return;
    clearTimeout(unanswered);
    unanswered = setTimeout(follow, ANSWER);
    channel.postMessage({ asks: true });
  };
  const begin = () => {
    away = false;
    if (!shares) { follow(); return; }
    const own = new BroadcastChannel(NAME);
    const waiting = new AbortController();
    channel = own;
    own.onmessage = ({ data }) => {
      if (data.asks && holds) own.postMessage({ ...known, answers: true });
      if (data.asks || follows) return;
      clearTimeout(unanswered);
      if (data.answers && data.last !== known.last) take({ changes: [{ topic: 'all' }] }); // it missed something
      hear(data);
    };
    release = () => waiting.abort();
    navigator.locks.request(NAME, { signal: waiting.signal }, () => new Promise((resolve) => {
      release = resolve;
      holds = !waiting.signal.aborted;
      if (holds) follow();
      else resolve();
    })).catch(() => { /* this tab is away */ });
    ask();
  };
  const leave = () => {
    clearTimeout(unanswered);
    stream.stop();
    release();
    channel?.close();
    channel = null;
    [holds, follows, away] = [false, false, true];
  };
  const comeBack = () => {
    if (!away) return;
    hear({ state: 'away' });
    begin();
  };
  const look = () => { if (!document.hidden) ask(); };
  const heard = [
    [document, 'visibilitychange', look], [document, 'freeze', leave], [document, 'resume', comeBack],
    [window, 'pagehide', leave], [window, 'pageshow', comeBack],
  ];
  for (const [target, name, fn] of heard) target.addEventListener(name, fn);
  begin();
  if (shares) take({ changes: [{ topic: 'all' }] }); // another tab may have the stream, which said so before
  return {
    end() {
      for (const [target, name, fn] of heard) target.removeEventListener(name, fn);
      leave();
    },
  };
}
