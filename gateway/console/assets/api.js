// Ask the gateway; what it refuses is an error whose message is a sentence.

import { language, t } from './words.js';

const BUSY_MS = 1000;

export class Refused extends Error {
  constructor(sentence, status) {
    super(sentence);
    this.status = status;
  }
}

const early = new Map(); // path -> what was asked for before it was needed

// Ask for what a screen will need, once.
export function expect(path) {
  const found = ask(path, {});
  found.catch(() => {}); // whoever needs it hears of it
  early.set(path, found);
}

// What no screen has asked for by now is old when it does.
export const expectNothing = () => early.clear();

// Return what a path below /api/console/ answers. `signal` aborts it, which throws an AbortError.
export async function get(path, { signal } = {}) {
  const found = early.get(path);
  early.delete(path);
  if (!found) return ask(path, { signal });
  const answer = await found;
  signal?.throwIfAborted();
  return answer;
}

export function post(path, body = {}, { signal } = {}) {
  return ask(path, {
    method: 'POST', signal, body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' },
  });
}

async function ask(path, options) {
  let response;
  const asked = { ...options, credentials: 'same-origin', headers: { ...options.headers, 'Accept-Language': language } };
  try {
    response = await fetch(`/api/console/${path}`, asked);
    if (response.status === 503 && !options.method) { // the chats come first: a little later, it may be read
      await new Promise((done) => { setTimeout(done, BUSY_MS); });
      response = await fetch(`/api/console/${path}`, asked);
    }
  } catch (cause) {
    if (cause.name === 'AbortError') throw cause;
    throw new Refused(t('unreachable'), 0);
  }
  const isJson = (response.headers.get('Content-Type') ?? '').startsWith('application/json');
  const found = isJson ? await response.json() : await response.text();
  if (response.ok) return found;
  if (response.status === 401) window.dispatchEvent(new CustomEvent('console:signed-out'));
  throw new Refused((isJson ? found.error : found.trim()) || t('refused', response.status), response.status);
}
