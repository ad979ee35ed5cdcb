// One stream for all tabs of a browser. A tab says `start`, then `here` now and then, and `bye`.

import { Stream } from './stream.js';

const SILENT = 90_000; // milliseconds after which a tab that said nothing is taken for closed
const ports = new Map();
let state = 'away';

const post = (message) => { for (const port of ports.keys()) port.postMessage(message); };
const stream = new Stream(
  (changes) => post({ changes }),
  (now) => { state = now; post({ state }); },
);

function leave(port) {
  ports.delete(port);
  if (!ports.size) stream.stop();
}

setInterval(() => {
  const limit = Date.now() - SILENT;
  for (const [port, at] of ports) if (at < limit) leave(port);
}, SILENT / 3);

self.addEventListener('connect', ({ ports: [port] }) => {
  port.onmessage = ({ data }) => {
    if (data === 'bye') { leave(port); return; }
    ports.set(port, Date.now());
    stream.start();
    // A stream that is opened says `all` by itself; who comes later may have missed something, too.
    if (data === 'start') port.postMessage({ state, changes: state === 'open' ? [{ topic: 'all' }] : [] });
  };
});
