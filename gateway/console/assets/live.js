// What changes, as it changes: `on('chat', ({ chat }) => ...)`; the call returns what ends it.
// Topics: chat, ledger, channels; `all` is said after a gap, when anything may have changed.

const listeners = new Map();

export function on(topic, fn) {
  if (!listeners.has(topic)) listeners.set(topic, new Set());
  listeners.get(topic).add(fn);
  return () => listeners.get(topic).delete(fn);
}

export function publish(topic, data) {
  for (const fn of [...(listeners.get(topic) ?? [])]) fn(data);
}
