// One tape by a link, for somebody without an account: its timeline, without what leads elsewhere.

import { get } from '../api.js';
import { make } from '../dom.js';
import { addWords, t, when } from '../words.js';
import { mount as mountTape } from './tape.js';

const LOOK = 4000; // milliseconds between two looks at whether the link holds, and at what is new
const ENDED = new Set([401, 403, 404]);

addWords({
  en: { 'read.until': 'You read this tape by a link, until {0}.' },
  zh: { 'read.until': '您正通过链接阅读此磁带，有效期至 {0}。' },
});

export const title = () => t('tape.title');

export function mount(root, params) {
  const ends = new AbortController();
  const note = make('p', { class: 'column read-about' });
  root.append(note);
  const tape = mountTape(root, params, 'read');
  let timer = 0;
  let looking = false;

  async function look() {
    if (looking) return;
    looking = true;
    clearTimeout(timer);
    try {
      const { agent, until, size } = await get(`tape/${params.chat}/reader`, { signal: ends.signal });
      document.getElementById('agent').textContent = agent;
      note.textContent = t('read.until', when(until));
      tape.grown(size);
    } catch (cause) {
      if (cause.name === 'AbortError') return;
      if (cause.status === 503) note.textContent = `${cause.message} ${t('later.again')}`;
      if (ENDED.has(cause.status)) { window.dispatchEvent(new CustomEvent('console:signed-out')); return; }
    }
    looking = false;
    timer = setTimeout(look, LOOK);
  }

  const unmount = () => { clearTimeout(timer); ends.abort(); tape(); };
  unmount.update = tape.update;
  // Browsers let the timers of a hidden page wait.
  document.addEventListener('visibilitychange', () => { if (!document.hidden) look(); }, { signal: ends.signal });
  look();
  return unmount;
}
