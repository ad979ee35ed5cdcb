// The connection to the gateway: the person, the event stream, and the outbox,
// which keeps a message until the gateway has it.

import { language, t } from './words.js';

// A guest's page is below a path of their own. What it asks and keeps stays there, since the same
// browser may have the owner's page, too.
export const base = /^\/g\/[^/]+(?=\/)/.exec(location.pathname)?.[0] ?? '';

const PERSON_KEY = 'tapeway.person';
const RETURN_KEY = 'tapeway.return';
const MAX_NAME = 40;
const ANSWER_MS = 3_000;

// Without storage the page works, but forgets.
export const store = {
  get(area, key) {
    try { return JSON.parse(window[area].getItem(base + key)); } catch { return null; }
  },
  set(area, key, value) {
    try {
      if (value === null) window[area].removeItem(base + key);
      else window[area].setItem(base + key, JSON.stringify(value));
    } catch { /* full or forbidden */ }
  },
};

const hex = (count) => Array.from(
  crypto.getRandomValues(new Uint8Array(count)), (byte) => byte.toString(16).padStart(2, '0'),
).join('');

// crypto.randomUUID is missing on plain http in a local network.
export function newMessageId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const h = hex(16);
  const variant = '89ab'[parseInt(h[16], 16) & 3];
  return `${h.slice(0, 8)}-${h.slice(8, 12)}-4${h.slice(13, 16)}-${variant}${h.slice(17, 20)}-${h.slice(20)}`;
}

// What reverses the text beside it could make a name look like another one.
const REVERSING = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

export const cleanName = (name) => (name ?? '').replace(REVERSING, '').replace(/\s+/g, ' ').trim().slice(0, MAX_NAME).trim();

const isPerson = (value) => Boolean(value && cleanName(value.name));

// The name in this tab, or null until one is entered. Who one is, the gateway says.
export function recallPerson(presetName) {
  const preset = cleanName(presetName);
  if (preset) return { name: preset };
  const known = [store.get('sessionStorage', PERSON_KEY), store.get('localStorage', PERSON_KEY)].find(isPerson);
  if (!known) return null;
  const person = { name: cleanName(known.name) };
  store.set('sessionStorage', PERSON_KEY, person);
  return person;
}

// A new name holds in this tab, and is the default in new tabs.
export function becomePerson(name) {
  const person = { name: cleanName(name) };
  store.set('sessionStorage', PERSON_KEY, person);
  store.set('localStorage', PERSON_KEY, person);
  return person;
}

// What comes behind the slash of the page's address is where to return to after signing in.
export const keepReturn = (place) => store.set('sessionStorage', RETURN_KEY, place);

// Go to the sign-in page, and return to this place afterwards.
export function goToLogin() {
  keepReturn(location.search + location.hash);
  location.assign('/login');
}

export function returnFromLogin() {
  const place = store.get('sessionStorage', RETURN_KEY);
  if (!place) return;
  keepReturn(null);
  if (!location.search && !location.hash) history.replaceState(null, '', location.pathname + place);
}

const roomUrl = (room, what) => `${base}/api/rooms/${encodeURIComponent(room)}/${what}`;

export const post = (room, what, body) => fetch(roomUrl(room, what), {
  method: 'POST',
  headers: { 'Content-Type': 'application/json', 'Accept-Language': language },
  body: JSON.stringify(body),
  signal: AbortSignal.timeout?.(20_000),
});

// Call the gateway: with a body as a POST; throws an error with its sentence.
export async function ask(path, body, milliseconds = 20_000) {
  const headers = { 'Accept-Language': language };
  const sent = body === undefined ? { headers } : {
    method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  };
  let response = null;
  try {
    response = await fetch(base + path, { ...sent, signal: AbortSignal.timeout?.(milliseconds) });
  } catch {
    throw new Error(t('The gateway cannot be reached.'));
  }
  if (!response.ok) throw new Error(await refusal(response));
  return response.json();
}

// Return the sentence of an error response.
export async function refusal(response) {
  try {
    const { error } = await response.json();
    if (typeof error === 'string' && error.trim()) return error.trim();
  } catch { /* not JSON */ }
  return t('The gateway refused the message (status {0}).', response.status);
}

// The event stream. EventSource reconnects after a lost connection, but gives up
// on an HTTP error; then this finds the reason and reconnects.
//
// The tabs of one person in one room share a stream, since browsers allow six connections to a
// gateway: the tab that holds the lock has it, and passes on what it hears. Without locks, which
// plain http has not, each tab has its own. So has a tab that gets no answer from the holder, since
// phones suspend tabs without a word; it keeps its stream.
export class Stream {
  #source = null;
  #url = '';
  #timer = 0;
  #tries = 0;
  #tabs = null; // the channel to the other tabs
  #release = () => {}; // give the lock away, or no longer wait for it
  #holds = false;
  #unanswered = 0; // the timer of a question to the holder
  #away = false; // the browser has suspended the tab, or keeps it for going back

  constructor({ onEvent, onStatus }) {
    this.onEvent = onEvent;
    this.onStatus = onStatus;
    window.addEventListener('online', () => {
      if (this.#source && this.#source.readyState !== EventSource.OPEN) this.#connect();
    });
    document.addEventListener('visibilitychange', () => { if (!document.hidden) this.#ask({ asks: true }); });
    document.addEventListener('freeze', () => this.#leave());
    document.addEventListener('resume', () => this.#comeBack());
    window.addEventListener('pagehide', () => this.#leave());
    window.addEventListener('pageshow', () => this.#comeBack());
  }

  open(room, person) {
    const query = new URLSearchParams({ name: person.name, language });
    this.#end();
    this.#url = `${roomUrl(room, 'events')}?${query}`;
    this.#begin();
  }

  #begin() {
    this.#away = false;
    this.#tries = 0;
    if (navigator.locks && 'BroadcastChannel' in window) this.#share(`tapeway ${this.#url}`);
    else this.#hold();
  }

  #end() {
    this.#release();
    this.#tabs?.close();
    this.#tabs = null;
    this.#source?.close();
    this.#source = null;
    clearTimeout(this.#timer);
    clearTimeout(this.#unanswered);
    this.#holds = false;
  }

  #leave() {
    if (!this.#url) return;
    this.#end();
    this.#away = true;
  }

  #comeBack() {
    if (!this.#away) return;
    this.onStatus('reconnecting');
    this.#begin();
  }

  #share(name) {
    const tabs = new BroadcastChannel(name);
    this.#tabs = tabs;
    tabs.onmessage = ({ data }) => {
      if (data.asks) {
        if (!this.#holds) return;
        tabs.postMessage({ answers: true });
        if (data.joins) this.#connect(); // the newcomer needs what a stream begins with
      } else if (!this.#source) this.#hear(data);
    };
    const waiting = new AbortController();
    let release = () => waiting.abort();
    this.#release = () => release();
    navigator.locks.request(name, { signal: waiting.signal }, () => new Promise((resolve) => {
      release = resolve;
      if (waiting.signal.aborted) resolve();
      else this.#hold();
    })).catch(() => { /* this tab has another name now, or is away */ });
    this.#ask({ asks: true, joins: true });
  }

  // Ask the holder for a sign of life.
  #ask(question) {
    if (!this.#tabs || this.#source) return;
    clearTimeout(this.#unanswered);
    this.#unanswered = setTimeout(() => this.#connect(), ANSWER_MS);
    this.#tabs.postMessage(question);
  }

  #hear({ status, event }) {
    clearTimeout(this.#unanswered);
    if (status) this.onStatus(status);
    if (event) this.onEvent(event);
  }

  #hold() {
    this.#holds = true;
    this.#connect();
  }

  #pass(event) {
    this.onEvent(event);
    if (this.#holds) this.#tabs?.postMessage({ event });
  }

  #say(status) {
    this.onStatus(status);
    if (this.#holds) this.#tabs?.postMessage({ status });
  }

  #connect() {
    clearTimeout(this.#timer);
    clearTimeout(this.#unanswered);
    this.#source?.close();
    const source = new EventSource(this.#url);
    this.#source = source;
    source.onopen = () => {
      this.#tries = 0;
      this.#say('connected');
    };
    source.onmessage = ({ data }) => {
      let event;
      try { event = JSON.parse(data); } catch { return; }
      if (event && source === this.#source) this.#pass(event);
    };
    source.onerror = () => {
      if (source !== this.#source) return;
      this.#say('reconnecting');
      if (source.readyState === EventSource.CLOSED) this.#later();
    };
  }

  #later() {
    const wait = Math.min(15_000, 1000 * 2 ** this.#tries) * (0.8 + Math.random() * 0.4);
    this.#tries += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(async () => {
      const url = this.#url;
      const probe = new AbortController();
      try {
        const { status } = await fetch(url, { headers: { Accept: 'text/event-stream' }, signal: probe.signal });
        if (status === 401 || status === 403) { goToLogin(); return; }
      } catch { /* unreachable; the next attempt will show */ } finally { probe.abort(); }
      if (url === this.#url && this.#source) this.#connect();
    }, wait);
  }
}

// Messages being sent, in order. They stay in the tab's storage until the gateway
// accepts them; posting one twice is harmless, since its id stays the same.
export class Outbox {
  #entries = [];
  #running = false;
  #wake = null;

  constructor(room, { onState, onRefused }) {
    this.room = room;
    this.key = `tapeway.outbox.${room}`;
    this.onState = onState;     // (message, 'sending' | 'retrying' | 'accepted')
    this.onRefused = onRefused; // (message, sentence)
    window.addEventListener('online', () => this.kick());
  }

  restore() {
    for (const message of store.get('sessionStorage', this.key) ?? []) this.add(message);
  }

  add(message) {
    this.#entries.push({ message, state: 'sending', acceptedAt: 0 });
    this.#keep();
    this.onState(message, 'sending');
    this.#run();
  }

  // The message is on the tape.
  settle(id) {
    this.#entries = this.#entries.filter((entry) => entry.message.id !== id);
    this.#keep();
  }

  // Accepted long ago but not on the tape: the tape was reset meanwhile.
  lost() {
    const limit = Date.now() - 10_000;
    return this.#entries.filter((e) => e.state === 'accepted' && e.acceptedAt < limit).map((e) => e.message.id);
  }

  kick() {
    this.#wake?.();
    this.#run();
  }

  #keep() {
    const open = this.#entries.filter((entry) => entry.state !== 'accepted').map((entry) => entry.message);
    store.set('sessionStorage', this.key, open.length ? open : null);
  }

  #mark(entry, state) {
    entry.state = state;
    if (this.#entries.includes(entry)) this.onState(entry.message, state);
  }

  async #run() {
    if (this.#running) return;
    this.#running = true;
    let tries = 0;
    for (;;) {
      const entry = this.#entries.find((e) => e.state !== 'accepted');
      if (!entry) break;
      let response = null;
      try { response = await post(this.room, 'messages', entry.message); } catch { /* offline */ }
      if (response?.ok) {
        tries = 0;
        entry.acceptedAt = Date.now();
        this.#mark(entry, 'accepted');
        this.#keep();
      } else if (response?.status === 401) {
        goToLogin(); // the outbox is stored, and goes out after signing in
        break;
      } else if (response && response.status < 500) {
        tries = 0;
        this.settle(entry.message.id);
        this.onRefused(entry.message, await refusal(response));
      } else {
        for (const e of this.#entries) if (e.state !== 'accepted') this.#mark(e, 'retrying');
        await this.#pause(Math.min(15_000, 1000 * 2 ** tries));
        tries += 1;
      }
    }
    this.#running = false;
  }

  #pause(ms) {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => { clearTimeout(timer); resolve(); };
    }).finally(() => { this.#wake = null; });
  }
}
