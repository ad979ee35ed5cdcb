// The timeline of a tape: it runs below a play head, as on a tape machine.

import { get } from '../api.js';
import { Changes, newest } from '../changes.js';
import { announce, make, odometer } from '../dom.js';
import { on } from '../live.js';
import { toChats } from '../screen.js';
import { number, t } from '../words.js';
import { Drawing, moment, titleOf } from '../tape/draw.js';
import { Entries, isListed, words } from '../tape/entries.js';
import { field } from '../tape/field.js';
import { byHand } from '../tape/hand.js';
import { Minimap } from '../tape/minimap.js';
import { Strip } from '../tape/strip.js';

const PAGE = 240;          // entries around a place: what is beside them is asked for once it is drawn
const FEW_TRACKS = 5; // with so many at most, less height is enough
const AHEAD = 1600;        // pixels before an end at which the next page is asked for
const LIVE_EVERY = 300;    // milliseconds between two looks at what is new
const AGAIN = 4000;        // milliseconds after which what could not be read is asked for again
const MOST = 500;          // rows of a page
const MAP_EVERY = 5000;
const ADDRESS_AFTER = 400;
const LIST_RESTS = 100;
const LIST_EVERY = 450;
const LOAD_AFTER = 30;
const MAX_NAMED = 40;      // lanes whose names are asked for at once
const LEGEND = ['lane', 'said', 'answer', 'turn', 'notch'];

const pageOf = (chat, { around, date }) => `tape/${chat}/page?limit=${PAGE}&${around ? `around=${around}` : date ? `date=${encodeURIComponent(date)}` : ''}`;
const placeOf = ({ entry }) => (entry ? { around: Number(entry) || 1 } : {});

export const title = () => t('tape.title');
export const needs = (params) => [pageOf(params.chat, placeOf(params))];

// `base` is `tape`, or `read` for readers with a link, who have no other screen.
export function mount(root, params, base = 'tape') {
  const screen = new TapeScreen(root, params, base);
  const unmount = () => screen.end();
  unmount.grown = (size) => screen.grown(size);
  unmount.update = (next) => screen.update(next);
  return unmount;
}

class TapeScreen {
  #chat;
  #base;
  #ends = new AbortController();
  #off = [];
  #strip = new Strip();
  #head = 0;         // the place of the play head, in pixels of the strip
  #selected = 0;
  #loading = false;
  #jump = 0;
  #wanted;           // the place that is shown first
  #address = location.hash;
  #frame = 0;
  #timers = new Set();
  #following = true;
  #chapter = null;
  #chapterOf = 0;
  #names = new Map(); // lane -> what it is called, or '' if it is not known
  #namers = new Map(); // lane -> the entry whose words these are
  #naming = 0;
  #touched = new Set(); // what was changed since the search that runs began
  #stale = null;     // the first and the last entry that are to be read again
  #renewing = false;
  #sought = '';
  #seeking = new AbortController();
  #moved = 0;
  #parts;
  #scrub;
  #changes;

  constructor(root, { chat, entry }, base) {
    this.#chat = chat;
    this.#base = base;
    const canvas = make('canvas', { class: 'strip-canvas', role: 'img', 'aria-label': t('tape.strip') });
    this.drawing = new Drawing(canvas, () => this.#dirty());
    this.canvas = canvas;
    this.#scrub = newest((id) => this.#jumpTo({ around: id }));
    this.map = new Minimap(this.#scrub);
    this.#changes = new Changes(chat, this.#ends.signal, (found) => this.#renew(found));
    this.entries = new Entries(chat, base);
    this.#parts = this.#build(root, canvas);
    this.#listen(canvas);
    this.#wanted = { ...placeOf({ entry }), exact: true };
    this.jump(this.#wanted).then(() => this.#about()).then(() => this.#lanes());
  }

  update({ chat, entry }) {
    if (chat !== this.#chat) return false;
    this.#address = location.hash;
    if (entry && Number(entry) !== this.#selected) this.jump({ around: Number(entry) || 1, exact: true });
    return true;
  }

  end() {
    this.#ends.abort();
    this.#seeking.abort();
    this.#off.forEach((off) => off());
    this.#timers.forEach(clearTimeout);
    clearTimeout(this.#listTimer);
    cancelAnimationFrame(this.#frame);
    this.drawing.end();
    this.observer.disconnect();
  }

  // Hear how many entries the tape has now.
  grown(size) { if (size > this.#strip.size) this.#soon('live', LIVE_EVERY, () => this.#news()); }

  get #whole() { return this.#base === 'tape'; }

  async #share() {
    try {
      const { share } = await import('./links.js');
      share(this.#chat, this.#ends.signal);
    } catch { this.#say(t('unreachable'), 'error'); }
  }

  #build(root, canvas) {
    const name = make('h1', {}, make('bdi', { id: 'tape-name' }, t('tape.title')));
    const about = make('p', { class: 'tape-about' });
    const note = make('p', { class: 'tape-note', role: 'status' });
    const date = field('date', 'datetime-local', t('tape.date'), (value) => value && this.jump({ date: new Date(value).toISOString() }));
    const find = field('q', 'search', t('tape.search'), (value) => this.#find(value));
    const button = (key, run) => make('button', { class: 'quiet', type: 'button', onclick: run }, t(key));
    const chapter = make('p', { class: 'tape-chapter' });
    const legend = this.map.legend;
    legend.prepend(...LEGEND.map((one) => make('li', { class: `legend-${one}` }, t(`tape.legend.${one}`))));
    const lanes = make('ul', { class: 'sr-only', 'aria-label': t('tape.lanes') });
    const hits = make('section', { class: 'tape-hits', hidden: true, 'aria-label': t('tape.hits') });
    root.append(make('section', { class: 'column tape-screen' },
      this.#whole ? toChats(this.#chat) : null,
      make('header', { class: 'tape-head' }, name, about, date.form, this.#whole ? find.form : null,
        make('p', { class: 'tape-buttons' }, button('tape.back', () => this.#turnTo(true)), button('tape.on', () => this.#turnTo(false)), button('tape.newest', () => this.jump({})),
          this.#whole ? button('tape.share', () => this.#share()) : null)),
      make('p', { class: 'tape-what' }, t('tape.what')),
      make('div', { class: 'machine' }, canvas, this.map.element),
      legend, lanes, chapter, note, hits, this.entries.element, make('p', { class: 'tape-keys' }, t(this.#whole ? 'tape.keys' : 'tape.keys.read'))));
    return { name: name.firstChild, about, note, find: find.input, chapter, hits, lanes };
  }

  #listen(canvas) {
    this.observer = new ResizeObserver(() => { if (this.#resize()) this.#draw(); });
    this.observer.observe(canvas);
    const signal = this.#ends.signal;
    const at = () => ({
      left: this.drawing.leftOf(this.#strip, this.#head), width: this.drawing.width,
      whole: this.#strip.whole && this.#strip.width <= this.drawing.room + 1,
    });
    byHand(canvas, signal, { at, moveTo: (place) => this.#moveTo(place), move: (by) => this.#move(by), zoom: (factor) => this.#zoom(factor) });
    document.addEventListener('keydown', (event) => this.#key(event), { signal });
    for (const topic of ['chat', 'all']) this.#off.push(on(topic, (data) => { if (!data?.chat || data.chat === this.#chat) this.#soon('live', LIVE_EVERY, () => this.#news()); }));
  }

  #key(event) {
    const { target, key } = event;
    if (event.ctrlKey || event.metaKey || event.altKey || target.closest?.('input, select, textarea, dialog')) return;
    const run = {
      j: () => this.#step(1), k: () => this.#step(-1), '[': () => this.#turnTo(true), ']': () => this.#turnTo(false),
      '/': () => this.#parts.find.focus(), '+': () => this.#zoom(1.4), '=': () => this.#zoom(1.4), '-': () => this.#zoom(1 / 1.4),
      ArrowLeft: () => this.#move(-60), ArrowRight: () => this.#move(60), Home: () => this.jump({ around: 1 }), End: () => this.jump({}),
    }[key];
    if (!run || (key === '/' && !this.#whole)) return;
    event.preventDefault();
    run();
  }

  // Once for many calls within a time.
  #waiting = new Set();
  #soon(name, after, run) {
    if (this.#waiting.has(name)) return;
    this.#waiting.add(name);
    const timer = setTimeout(() => { this.#waiting.delete(name); this.#timers.delete(timer); run(); }, after);
    this.#timers.add(timer);
  }

  #ask(path) { return this.#get(`tape/${this.#chat}${path}`); }

  async #get(path, signal = this.#ends.signal) {
    try {
      const found = await get(path, { signal });
      if (this.#parts.note.dataset.kind === 'error') this.#say('');
      return found;
    } catch (cause) {
      if (cause.name !== 'AbortError') this.#say(cause.message, 'error');
      return null;
    }
  }

  #say(sentence, kind = '') {
    this.#parts.note.textContent = sentence;
    this.#parts.note.dataset.kind = kind;
  }

  async #about() {
    const found = await this.#ask('');
    if (!found) return;
    const { name, about } = this.#parts;
    name.textContent = found.title;
    document.title = `${found.title} · ${t('tape.title')}`;
    about.replaceChildren(make('span', { class: 'channel' }, found.channel), found.private ? ` · ${t('private')}` : '', found.recognized ? ` · ${found.recognized}` : '', ' ', make('span', { title: t('tape.counted') }, odometer(String(found.size).padStart(6, '0'), t('tape.size', number(found.size))), make('span', { 'aria-hidden': 'true' }, ` ${t('tape.unit')}`)));
    this.map.take(found);
    const counted = found.high ? found.high - found.low + 1 : 0;
    if (found.size - counted > 5000) this.#say(t('tape.counting', number(counted), number(found.size)));
    if (!found.size) this.#say(t('tape.empty'));
  }

  // The busiest conversations of the whole tape, on the map.
  async #lanes() {
    const found = await this.#ask(`/lanes?first=1&last=${this.#strip.size}`);
    if (found) this.map.takeLanes(found.lanes);
  }

  // Show another place at once, in the place of one that is still on its way: `around` an entry, at a
  // `date`, or the newest. `exact` shows this entry itself, or says that it is not there.
  jump(where) {
    this.#scrub.drop();
    return this.#jumpTo(where);
  }

  async #jumpTo(where) {
    const round = ++this.#jump;
    this.#seeking.abort();
    this.#seeking = new AbortController();
    const at = where.around;
    const loaded = at && at >= this.#strip.first && at <= this.#strip.last;
    const page = loaded ? null : await this.#get(pageOf(this.#chat, where), this.#seeking.signal);
    if (round !== this.#jump || !(loaded || page)) return;
    this.#following = !at && !where.date;
    if (loaded) { this.#select(at, where.exact); return; }
    this.#strip.replace(page);
    this.#changes.begin(page.size);
    this.#select(at && where.exact ? at : page.at ?? page.last, where.exact);
    performance.mark('tape:jumped');
  }

  #select(id, exact = false) {
    const { rows } = this.#strip;
    const i = Math.min(rows.length - 1, this.#strip.indexOf(id));
    if (i < 0) { this.#dirty(); return; }
    if (this.#parts.note.dataset.kind === 'beside') this.#say('');
    if (exact && rows[i].id === id) { this.#at(i); return; }
    if (exact) this.#say(t('tape.beside', id), 'beside');
    let beside = i;
    while (beside < rows.length - 1 && !isListed(rows[beside])) beside++;
    while (beside > 0 && !isListed(rows[beside])) beside--;
    this.#at(isListed(rows[beside]) ? beside : i);
  }

  #at(i) {
    this.#selected = this.#strip.rows[i].id;
    this.#head = this.#strip.xs[i];
    this.#settle();
  }

  #step(by) {
    const { rows } = this.#strip;
    let i = this.#strip.indexOf(this.#selected) + by;
    while (i >= 0 && i < rows.length && !isListed(rows[i])) i += by;
    if (i >= 0 && i < rows.length) this.#select(rows[i].id);
    this.#load();
  }

  async #turnTo(back) {
    const found = await this.#ask(`/chapter?at=${this.#selected}${back ? '&back' : ''}`);
    if (found?.id) await this.jump({ around: found.id });
  }

  #zoom(factor) {
    this.#strip.zoom(factor);
    this.#select(this.#selected);
  }

  #move(by) { this.#moveTo(this.#head + by); }

  #moveTo(place) {
    this.#head = Math.min(this.#strip.width, Math.max(0, place));
    const { rows, xs } = this.#strip;
    if (!rows.length) return;
    let i = this.#strip.indexAt(this.#head);
    if (i > 0 && (i >= rows.length || this.#head - xs[i - 1] < xs[i] - this.#head)) i--;
    let [before, behind] = [i, i];
    while (before > 0 && !isListed(rows[before])) before--;
    while (behind < rows.length - 1 && !isListed(rows[behind])) behind++;
    const [nearer] = [before, behind].filter((one) => isListed(rows[one])).sort((a, b) => Math.abs(xs[a] - this.#head) - Math.abs(xs[b] - this.#head));
    if (nearer !== undefined) this.#selected = rows[nearer].id;
    this.#settle(true);
  }

  #settle(moving = false) {
    const row = this.#strip.rows[this.#strip.indexOf(this.#selected)];
    // Who follows goes on following where more arrives than is read at once.
    this.#following = (this.#following || this.#strip.last >= this.#strip.size) && !(this.#strip.rows.findLast(isListed)?.id > this.#selected);
    if (moving) this.map.place(this.#selected);
    else this.map.show(this.#selected, row ? moment(row) : '');
    if (moving) this.#moved = performance.now();
    this.#dirty();
    this.#list(moving);
    this.#soon('address', ADDRESS_AFTER, () => this.#rest());
    this.#soon('load', LOAD_AFTER, () => this.#load());
  }

  // The list is made of many elements: while the tape moves fast, it waits until it rests, or a moment.
  #listTimer = 0;
  #listSince = 0;
  #listHead = 0;
  #list(moving) {
    const now = performance.now();
    // What passes faster than a window in that time cannot be read.
    if (!this.#listSince || Math.abs(this.#head - this.#listHead) > this.drawing.width) [this.#listSince, this.#listHead] = [now, this.#head];
    clearTimeout(this.#listTimer);
    this.#listTimer = setTimeout(() => {
      this.#listSince = 0;
      this.entries.show(this.#strip, this.#selected);
    }, moving ? Math.max(0, Math.min(LIST_RESTS, LIST_EVERY - (now - this.#listSince))) : 0);
  }

  // What need not follow every frame: the address, the names of conversations, and which chapter this is.
  async #rest() {
    const selected = this.#selected;
    const row = this.#strip.rows[this.#strip.indexOf(selected)];
    if (performance.now() - this.#moved < LIST_RESTS) { this.#soon('address', ADDRESS_AFTER, () => this.#rest()); return; }
    if (row) this.map.show(selected, moment(row));
    this.#name();
    // A link may have been followed just now, of which this screen has not heard: its fragment must stay.
    if (location.hash === this.#address) {
      history.replaceState(null, '', `#/${this.#base}/${this.#chat}/at/${selected}`);
      this.#address = location.hash;
    }
    if (selected === this.#chapterOf) return;
    this.#chapterOf = selected;
    const rows = this.#strip.rows.slice(0, this.#strip.indexOf(selected) + 1);
    const chapter = rows.findLast((row) => row.kind === 'chapter') ?? await this.#ask(`/chapter?at=${selected + 1}&back`);
    if (!chapter?.id || selected !== this.#selected) return;
    const file = (form) => make('a', { href: `/api/console/tape/${this.#chat}/chapter/${chapter.id}.${form}`, download: '' }, t(form === 'md' ? 'tape.markdown' : 'tape.html'));
    const named = make('span', {}, t('tape.chapter', titleOf(chapter)));
    if (!this.#whole) { this.#parts.chapter.replaceChildren(named); return; }
    this.#parts.chapter.replaceChildren(named, file('md'), file('html'),
      row ? this.#replayed(chapter, row) : '');
  }

  // At the end, nothing is left to be played: from there, the chapter is.
  #replayed(chapter, row) {
    const from = this.#following ? chapter.at : row.at;
    return make('a', { href: `#/replay/${this.#chat}/at/${encodeURIComponent(from)}` }, t(this.#following ? 'tape.replay.chapter' : 'tape.replay'));
  }

  // Ask for the names of the conversations in sight that have none yet.
  async #name() {
    const { width } = this.drawing;
    const near = [...this.#strip.lanes].filter(([, span]) => span.end > this.#head - width && span.x < this.#head + width).map(([lane]) => lane);
    const asked = near.filter((lane) => !this.#names.has(lane)).slice(0, MAX_NAMED);
    if (asked.length) {
      for (const lane of asked) this.#names.set(lane, '');
      const round = this.#naming;
      const found = await this.#ask(`/names?${new URLSearchParams(asked.map((lane) => ['lane', lane]))}`);
      if (this.#ends.signal.aborted) return;
      if (!found || round !== this.#naming) { // a name may be what was changed meanwhile
        for (const lane of asked) this.#names.delete(lane);
        this.#soon('name', found ? LIVE_EVERY : AGAIN, () => this.#name());
        return;
      }
      for (const [lane, { entry, who, text }] of Object.entries(found)) {
        this.#names.set(lane, `${who}: ${text}`);
        this.#namers.set(lane, entry);
      }
      this.#dirty();
    }
    const named = near.map((lane) => this.#names.get(lane)).filter(Boolean);
    this.#parts.lanes.replaceChildren(...named.map((name) => make('li', {}, name)));
  }

  // Take the canvas's size; return whether it is another one, which empties the canvas.
  #resize() {
    const resized = this.drawing.resize();
    if (this.#strip.fitTo(this.drawing.room)) this.#head = this.#strip.placeOf(this.#selected);
    return resized;
  }

  #extend(page, older) {
    const moved = this.#strip.extend(page, older);
    this.#head = this.#strip.whole ? this.#strip.placeOf(this.#selected) : this.#head + moved;
  }

  #dirty() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#draw());
  }

  #draw() {
    this.#frame = 0;
    const first = this.#strip.rows.length && !this.drawn;
    if (first) this.canvas.classList.toggle('few', this.#strip.tracks <= FEW_TRACKS);
    if (first || !this.drawing.width) this.#resize();
    this.drawing.draw(this.#strip, this.#head, this.#selected, this.#names);
    if (!first) return;
    this.drawn = true;
    performance.mark('tape:drawn');
    this.#name();
  }

  // Ask for the next page before an end of the strip comes into sight.
  async #load() {
    const strip = this.#strip;
    if (this.#loading || !strip.rows.length) return;
    const older = this.#head < AHEAD && strip.first > 1;
    const newer = strip.width - this.#head < AHEAD && strip.last < strip.size;
    if (!older && !newer) return;
    this.#loading = true;
    const round = this.#jump;
    const page = await this.#ask(older ? `/page?before=${strip.first}` : `/page?after=${strip.last}`);
    this.#loading = false;
    if (!page || round !== this.#jump) return;
    const following = this.#following && !older;
    const { last } = strip;
    this.#extend(page, older);
    if (!older) this.#changes.read(page.rows, last, page.last);
    if (!page.rows.length && older) strip.first = 1;
    else if (!page.rows.length) strip.last = strip.size;
    if (following) this.#select(strip.last);
    this.#dirty();
    this.#list(true);
    if (page.rows.length) this.#load();
  }

  async #news() {
    const strip = this.#strip;
    this.#soon('map', MAP_EVERY, () => this.#about());
    if (!strip.rows.length) { this.jump(this.#wanted); return; } // what was refused at first
    if (this.#loading || strip.last < strip.size) {
      strip.size = Math.max(strip.size, strip.last + 1);
      this.#changes.soon();
      return;
    }
    this.#loading = true;
    const round = this.#jump;
    const { last } = strip;
    const page = await this.#ask(`/page?after=${last}`);
    this.#loading = false;
    if (!page || round !== this.#jump) { this.#changes.soon(); return; }
    if (!page.rows.length) return;
    const following = this.#following;
    this.#extend(page, false);
    this.#changes.read(page.rows, last, page.last);
    if (following) this.#select(strip.last);
    else this.#dirty();
    if (page.last < page.size) this.#soon('live', LIVE_EVERY, () => this.#news());
  }

  // What is shown was deleted, edited or erased: what it said goes at once, and the rest is read again.
  #renew({ deleted, edited, all }) {
    const strip = this.#strip;
    const { hits, chapter } = this.#parts;
    const gone = new Set([...deleted, ...edited]);
    for (const [lane, entry] of this.#namers) if (all || gone.has(entry)) this.#names.delete(lane);
    this.#naming += 1;
    for (const id of all ? ['all'] : gone) this.#touched.add(id);
    if (all) { this.#chapterOf = 0; chapter.replaceChildren(); this.#soon('address', ADDRESS_AFTER, () => this.#rest()); }
    const told = [...hits.querySelectorAll('li')].filter(({ dataset }) => all || gone.has(Number(dataset.id)));
    told.forEach((one) => one.remove());
    if (told.length) this.#soon('hits', AGAIN, () => this.#find(this.#sought, false));
    if (deleted.length) this.#redraw(() => strip.forget(deleted));
    this.#dirty();
    this.#name();
    const loaded = all && strip.rows.length ? [strip.first, strip.last] : edited.filter((id) => id >= strip.first && id <= strip.last);
    if (loaded.length) this.#again(Math.min(...loaded), Math.max(...loaded));
  }

  // Change the strip below the play head, which stays where it is on the tape.
  #redraw(change) {
    const before = this.#strip.placeOf(this.#selected);
    change();
    this.#head += this.#strip.placeOf(this.#selected) - before;
    this.#dirty();
    this.#list(false);
  }

  // Read the loaded entries from one to another again; what cannot be read now is asked for later.
  async #again(first, last) {
    this.#stale = this.#stale ? [Math.min(first, this.#stale[0]), Math.max(last, this.#stale[1])] : [first, last];
    if (this.#renewing) return;
    this.#renewing = true;
    while (this.#stale) {
      const end = this.#stale[1];
      let next = this.#stale[0];
      this.#stale = null;
      while (next <= end) {
        const page = await this.#ask(`/page?after=${next - 1}&limit=${Math.min(MOST, end - next + 1)}`);
        if (this.#ends.signal.aborted) return;
        if (!page) {
          this.#renewing = false;
          this.#stale = [Math.min(next, this.#stale?.[0] ?? next), Math.max(end, this.#stale?.[1] ?? end)];
          this.#soon('again', AGAIN, () => this.#again(...this.#stale));
          return;
        }
        if (!page.rows.length) break;
        this.#redraw(() => this.#strip.renew(page.rows));
        next = page.last + 1;
      }
    }
    this.#renewing = false;
  }

  async #find(text, moves = true) {
    const { hits } = this.#parts;
    this.#sought = text;
    hits.hidden = !text.trim();
    if (hits.hidden) return;
    const touched = new Set();
    this.#touched = touched;
    const found = await this.#ask(`/search?q=${encodeURIComponent(text)}`);
    if (!found || text !== this.#sought) return;
    if (touched.has('all')) { this.#find(text, moves); return; }
    const list = found.rows.filter(({ id }) => !touched.has(id)).map((row) => make('li', { 'data-id': row.id }, make('a', { href: `#/tape/${this.#chat}/at/${row.id}` }, moment({ ...row, time: Date.parse(row.at) })), ' ', ...words(row)));
    hits.replaceChildren(list.length ? make('ul', {}, list) : make('p', { class: 'empty' }, t('tape.none')));
    if (!moves) return;
    announce(list.length ? `${t('tape.hits')}: ${list.length}` : t('tape.none'));
    if (list.length) this.jump({ around: found.rows[0].id });
  }
}
