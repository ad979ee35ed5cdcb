// A room as it was: a play head over the tape, and what stood in the room at that time.

import { get } from '../api.js';
import { Changes, newest } from '../changes.js';
import { disc, make, reel } from '../dom.js';
import { toChats } from '../screen.js';
import { addWords, locale, t } from '../words.js';
import { hueOf } from '../tape/strip.js';
import { titleOf } from '../tape/draw.js';
import { Minimap } from '../tape/minimap.js';
import '../tape/entries.js';

const SPEEDS = [1, 10, 60];
const MAX_SHOWN = 60;
const MAX_SILENCE = 20_000;  // milliseconds of the room's time that a silence takes at most
const TICK = 100;
const KEEP_STEPS = 60;       // steps left at which further ones are asked for

addWords({
  en: {
    'replay.title': 'Replay', 'replay.play': 'Play', 'replay.stop': 'Pause', 'replay.speed': 'Speed', 'replay.at': 'The room at {0}', 'replay.nothing': 'Nothing had been said yet.',
    'replay.working': 'The agent is answering', 'replay.end': 'This is the end of the tape.', 'replay.tape': 'Open the timeline here', 'replay.now': 'Deleted and erased messages are shown at no time.',
  },
  zh: {
    'replay.title': '回放', 'replay.play': '播放', 'replay.stop': '暂停', 'replay.speed': '速度', 'replay.at': '{0} 时的房间', 'replay.nothing': '当时还没有任何消息。',
    'replay.working': '助手正在回答', 'replay.end': '磁带到此结束。', 'replay.tape': '在此处打开磁带', 'replay.now': '已删除和已抹除的消息在任何时刻都不显示。',
  },
});

export const title = () => t('replay.title');

export function mount(root, { chat, at }) {
  const replay = new Replay(root, chat);
  replay.begin(at ?? new Date().toISOString());
  const unmount = () => replay.end();
  unmount.update = (next) => {
    if (next.chat !== chat) return false;
    replay.open(next.at ?? new Date().toISOString());
    return true;
  };
  return unmount;
}

class Replay {
  #chat;
  #ends = new AbortController();
  #round = 0;
  #time = 0;       // the room's time, in milliseconds
  #entry = 0;
  #steps = [];
  #upto = 0;
  #more = false;
  #asking = false;
  #timer = null;
  #speed = 10;
  #working = new Set();

  constructor(root, chat) {
    this.#chat = chat;
    this.map = new Minimap(newest((id) => this.#seek(id)));
    this.changes = new Changes(chat, this.#ends.signal, (found) => this.#renew(found));
    this.name = make('h1', {}, t('replay.title'));
    this.clock = make('time', { class: 'replay-clock' });
    this.reels = [reel(), reel()];
    this.button = make('button', { type: 'button', class: 'button', onclick: () => this.#toggle() }, t('replay.play'));
    this.room = make('ol', { class: 'replay-room', tabindex: '0', 'aria-label': t('replay.title') });
    this.state = make('p', { class: 'replay-state', role: 'status' });
    this.link = make('a', { href: `#/tape/${chat}` }, t('replay.tape'));
    this.when = make('input', { type: 'datetime-local', step: '1', 'aria-label': t('tape.date'), onchange: (event) => { const date = new Date(event.target.value); if (!Number.isNaN(+date)) this.open(date.toISOString()); } });
    const speed = make('select', { 'aria-label': t('replay.speed'), onchange: (event) => { this.#speed = Number(event.target.value); } },
      SPEEDS.map((one) => make('option', { value: one, selected: one === this.#speed }, `${one}×`)));
    this.map.legend.prepend(make('li', { class: 'legend-lane' }, t('tape.legend.lane')));
    root.append(make('section', { class: 'column replay' },
      toChats(chat), this.name,
      make('div', { class: 'machine' },
        make('div', { class: 'replay-deck' }, this.reels[0], make('div', { class: 'replay-keys' }, this.clock, this.button, speed, this.when), this.reels[1]),
        this.map.element, this.map.legend),
      this.room, this.state, make('p', { class: 'tape-keys' }, t('replay.now'), ' ', this.link)));
    this.#about();
  }

  end() {
    this.#ends.abort();
    clearInterval(this.#timer);
  }

  async begin(date) {
    await this.changes.begin();
    this.changes.follow(this.#chat);
    await this.open(date);
  }

  // What was deleted or erased goes from the room, and from what is still to be played.
  #renew({ deleted, all }) {
    if (!all && !deleted.length) return; // an edit has its own time
    const gone = new Set(deleted.map(String));
    const is = (id) => all || gone.has(String(id));
    this.#round += 1; // what is on its way may have it
    this.#steps = this.#steps.filter(({ id, to }) => !is(to ?? id));
    for (const one of [...this.room.children]) if (is(one.dataset.id)) one.remove();
    this.open(new Date(this.#time || Date.now()).toISOString());
  }

  async open(date) {
    const round = ++this.#round;
    this.#time = Date.parse(date);
    const room = await this.#ask(`/room?date=${encodeURIComponent(date)}`);
    if (!room || round !== this.#round) return;
    this.#entry = this.#upto = room.entry;
    this.#steps = [];
    this.#more = room.next !== '';
    this.#working = new Set(room.working.map(({ turn }) => turn));
    this.room.replaceChildren(...room.messages.map((one) => this.#item(one)));
    this.state.textContent = room.messages.length ? '' : t('replay.nothing');
    // A link to another screen may have been followed, whose fragment must stay.
    if (location.hash.startsWith(`#/replay/${this.#chat}`)) history.replaceState(null, '', `#/replay/${this.#chat}/at/${encodeURIComponent(date)}`);
    this.#show();
    this.room.scrollTop = this.room.scrollHeight;
  }

  async #about() {
    const found = await this.#ask('');
    if (!found) return;
    this.map.take(found);
    this.name.replaceChildren(`${t('replay.title')}: `, make('bdi', {}, found.title));
    document.title = `${found.title} · ${t('replay.title')}`;
    this.#show();
  }

  async #seek(id) {
    const round = ++this.#round;
    const page = await this.#ask(`/page?limit=2&around=${id}`);
    const row = page?.rows.find((one) => one.id >= id) ?? page?.rows.at(-1);
    if (row && round === this.#round) await this.open(row.at);
  }

  async #ask(path) {
    try {
      return await get(`tape/${this.#chat}${path}`, { signal: this.#ends.signal });
    } catch (cause) {
      if (cause.name !== 'AbortError') this.state.textContent = cause.message;
      return null;
    }
  }

  #toggle() {
    if (this.#timer !== null) { this.#pause(); return; }
    this.#timer = setInterval(() => this.#tick(), TICK);
    this.button.textContent = t('replay.stop');
    for (const one of this.reels) one.classList.add('turning');
    this.#fetch();
  }

  #pause() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.button.textContent = t('replay.play');
    for (const one of this.reels) one.classList.remove('turning');
  }

  #tick() {
    const next = this.#steps[0];
    if (!next) {
      if (this.#more) { this.#fetch(); return; }
      this.state.textContent = t('replay.end');
      this.#pause();
      return;
    }
    // A silence is shortened, so that ten minutes of it are not watched.
    this.#time = Math.max(this.#time + TICK * this.#speed, Date.parse(next.at) - MAX_SILENCE);
    while (this.#steps.length && Date.parse(this.#steps[0].at) <= this.#time) this.#take(this.#steps.shift());
    if (this.#steps.length < KEEP_STEPS && this.#more) this.#fetch();
    this.#show();
  }

  async #fetch() {
    if (this.#asking || !this.#more) return;
    this.#asking = true;
    const round = this.#round;
    const found = await this.#ask(`/steps?after=${this.#upto}`);
    this.#asking = false;
    if (!found) { this.#pause(); return; }
    if (round !== this.#round) return;
    this.#steps.push(...found.steps);
    this.#upto = found.upto;
    this.#more = found.more;
  }

  #take(step) {
    this.#entry = step.id;
    if (step.kind === 'turn') this.#working.add(step.turn);
    else if (step.kind === 'end') this.#working.delete(step.turn);
    else if (step.kind === 'edit') {
      const text = this.room.querySelector(`[data-id="${step.to}"] .replay-text`);
      if (text) text.textContent = step.text;
    } else {
      const atEnd = this.room.scrollHeight - this.room.scrollTop - this.room.clientHeight < 80;
      this.room.append(this.#item(step));
      while (this.room.children.length > MAX_SHOWN) this.room.firstChild.remove();
      if (atEnd) this.room.scrollTop = this.room.scrollHeight;
    }
  }

  #show() {
    const date = new Date(this.#time);
    this.clock.dateTime = date.toISOString();
    this.clock.textContent = date.toLocaleString(locale(), { dateStyle: 'medium', timeStyle: 'medium' });
    this.map.show(this.#entry, this.clock.textContent);
    this.link.href = `#/tape/${this.#chat}/at/${this.#entry}`;
    if (this.#working.size) this.state.textContent = t('replay.working');
    else if (this.state.textContent === t('replay.working')) this.state.textContent = '';
  }

  #item(step) {
    if (step.kind === 'chapter') return make('li', { class: 'replay-cut', 'data-id': step.id }, titleOf(step));
    const mine = step.kind === 'answer';
    return make('li', { class: `replay-item ${mine ? 'answer' : ''} ${step.lane ? `hue-${hueOf(step.lane)}` : ''}`, 'data-id': step.id },
      make('b', {}, mine ? t('tape.agent') : [disc(step.who), make('bdi', {}, step.who)]), ' ',
      make('time', { class: 'entry-when', datetime: step.at }, new Date(step.at).toLocaleTimeString(locale(), { timeStyle: 'medium' })),
      make('p', { class: 'replay-text' }, step.text));
  }
}
