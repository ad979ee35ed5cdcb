// What most screens do: ask for something, draw it, and ask again when one of their topics changes.

import { get } from './api.js';
import { make } from './dom.js';
import { on } from './live.js';
import { t } from './words.js';

const REST = 1000; // milliseconds at least from one answer until changes are asked for

// Return { refresh, end }. `path()`, or what it resolves to, is asked for, and `draw(found)` shows it; a
// refusal is shown in `note`, or by `refuse(cause)`. Of the topics, `heeds(data)` may leave something out.
// What changes while an answer is on its way is asked for once more, and never twice at once; between
// two rounds that changes ask for, there is a rest, of `restOf(found)` milliseconds if that is more.
// `refresh`, for what somebody did, has none; `hear` is for a change that is of no topic.
export function follow({ path, draw, note, refuse = ({ message }) => { note.textContent = message; }, topics = [], heeds = () => true, restOf = () => REST }) {
  const ends = new AbortController();
  let running = false;
  let again = false;
  let changed = false;
  let due = 0; // when changes may be asked for again
  let timer = 0;

  async function refresh() {
    if (running) { again = true; return; }
    running = true;
    clearTimeout(timer);
    timer = 0;
    let rest = REST;
    do {
      again = false;
      try {
        const asked = path(ends.signal); // at once, if it is known: what was asked for early is not kept
        const found = await get(typeof asked === 'string' ? asked : await asked, { signal: ends.signal });
        if (note) note.textContent = '';
        draw(found);
        rest = Math.max(REST, restOf(found));
      } catch (cause) {
        if (cause.name === 'AbortError') return;
        refuse(cause);
      }
    } while (again);
    running = false;
    due = performance.now() + rest;
    if (changed) hear();
  }

  function hear() {
    changed = running;
    if (running || timer) return;
    timer = setTimeout(refresh, Math.max(0, due - performance.now()));
  }

  const offs = [...topics, 'all'].map((topic) => on(topic, (data) => { if (heeds(data)) hear(); }));
  if (note) note.textContent = t('loading');
  refresh();
  return { refresh, hear, end() { offs.forEach((off) => off()); clearTimeout(timer); ends.abort(); } };
}

const back = (href, words) => make('p', { class: 'to-chats' }, make('a', { href }, make('span', { 'aria-hidden': 'true' }, '‹ '), t(words)));

// A link to the chats, at the place of one of them if it is known.
export const toChats = (chat) => back(chat ? `#/deck/at/${chat}` : '#/deck', 'all-chats');

// A link to the timeline of a chat, at an entry if it is known.
export const toTape = (chat, entry) => back(`#/tape/${chat}${entry ? `/at/${entry}` : ''}`, 'to-tape');

// Return a section with a title, and the note in which refusals are shown.
export function section(title, name) {
  const note = make('p', { class: 'note', role: 'status' });
  return { note, root: make('section', { class: `column ${name}` }, make('h1', {}, title), note) };
}

// Ask somebody first, in a dialog of some sentences; resolve to whether they agree.
export function asked(title, sentences, no, yes) {
  const dialog = make('dialog', { class: 'agree', 'aria-labelledby': 'agree-title' },
    make('form', { method: 'dialog' },
      make('h2', { id: 'agree-title' }, title), sentences.filter(Boolean).map((sentence) => make('p', {}, sentence)),
      make('p', { class: 'agree-buttons' },
        make('button', { class: 'quiet', value: 'no' }, no), make('button', { class: 'button', value: 'yes' }, yes))));
  document.body.append(dialog);
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(dialog.returnValue === 'yes');
    });
    dialog.showModal();
  });
}
