// The transcript: finished messages in the log, then a tail with pending messages and drafts.
// Screen readers hear each finished message once and whole, from a live region of its own.

import {
  arrange, clock, dayKey, dayName, fullDate, icon, make,
} from './parts.js';
import { excerpt, showBody, spokenText } from './markup.js';
import { Track } from './track.js';
import { Under } from './under.js';
import { t } from './words.js';

const JOIN_WITHIN = 5 * 60_000;
const MOST_SHOWN = 400; // messages of the log; beyond, the oldest leave the page
const KEPT = 200; // as many as a page that is opened shows
const MAX_SPOKEN = 3;
const SPOKEN_MS = 20_000;

const joins = (before, message) => Boolean(before
  && message.role === 'person' && before.role === 'person'
  && before.author.id === message.author.id
  && before.to_agent === message.to_agent
  && !message.reply_to
  && Math.abs(new Date(message.date) - new Date(before.date)) < JOIN_WITHIN);

// What a turn says instead of an answer has the turn's key, and asks nothing itself.
const hasFailed = (message) => message.role === 'notice' && message.id.startsWith('t-') && !message.buttons?.length;

let serial = 0;

export class Transcript {
  #known = new Map();    // id -> { message, element, html, stage: 'log' | 'pending' | 'draft' }
  #order = [];           // ids of the log
  #pending = [];         // ids of own messages on their way
  #days = new Map();     // day -> separator element
  #track = new Track();
  #queued = new Map();   // draft id -> newest message, drawn with the next frame
  #primed = false;
  #reasoning = new Map(); // question id -> the model's reasoning, as far as it was shown
  #stale = new Set();    // drafts shown before a reconnect, not confirmed since

  constructor(parts) {
    // log, pending, drafts, spoken, faces, isOwn, onReply, onPress, onRetry, onStop, onGoOn, onAgain, why,
    // onReact, linkTo, imageOf, announce, showMessage, isReading, mayStop, onChange
    Object.assign(this, parts);
    this.under = new Under({
      get: (id) => this.get(id), nameOf: (message) => this.nameOf(message), reveal: (id) => this.reveal(id), ask: parts.why, announce: parts.announce,
      onAgain: parts.onAgain, onGoOn: parts.onGoOn, onReact: parts.onReact, linkTo: parts.linkTo, note: (id, text) => this.note(id, text),
    });
  }

  get size() { return this.#order.length; }
  get isEmpty() { return this.#known.size === 0; }
  get hasDraft() { return this.drafts.childElementCount > 0; }

  get hasOwnDraft() {
    return [...this.drafts.children].some(({ dataset }) => this.asksOwn(this.get(dataset.id)?.reply_to));
  }

  // Whether one asked this question.
  asksOwn(id) { return this.isOwn(this.get(id)?.author.id); }
  get(id) { return this.#known.get(id)?.message ?? null; }

  // The name of a message's author, by which two people can be told apart.
  nameOf({ role, author }) { return role === 'person' ? this.faces.nameOf(author) : author.name; }
  hueOf({ role, author }) { return role === 'person' ? this.faces.hueOf(author.id) : 'hue-agent'; }
  has(id) { return this.#known.get(id)?.stage === 'log'; }

  // Show the history and return its new messages. What is shown already stays
  // untouched, so that a reconnect is not visible.
  setHistory(messages) {
    const fresh = [];
    const order = new Set();
    const newest = this.get(this.#order.at(-1))?.date ?? '';
    for (const message of messages) {
      if (order.has(message.id)) continue;
      // Where messages were erased, the past has as many older ones instead.
      if (!this.has(message.id) && message.date > newest) fresh.push(message);
      this.#settle(message);
      order.add(message.id);
    }
    for (const { id, reactions, mine } of messages) this.takeReactions(id, reactions, mine);
    const gone = this.#order.filter((id) => !order.has(id));
    for (const id of gone) this.#forget(id);
    this.#order = [...order];
    if (gone.length) this.#requote();
    this.#layout();
    // An answer that ended while offline gets no more updates.
    this.#stale = new Set([...this.drafts.children].map((element) => element.dataset.id));
    if (this.#stale.size) setTimeout(() => this.#dropStale(), 1500);
    if (!this.#primed) this.#primed = true;
    else for (const message of fresh.slice(-MAX_SPOKEN)) this.#say(message);
    return fresh;
  }

  // Show a finished message; return whether it is new.
  put(message) {
    const isNew = !this.has(message.id);
    const before = this.#known.get(message.id)?.html;
    const entry = this.#settle(message);
    if (isNew) this.#order.push(message.id);
    if (isNew || entry.html !== before) this.#say(message);
    if (this.#order.length > MOST_SHOWN && !this.isReading()) this.#prune();
    this.#layout();
    return isNew;
  }

  // A page that is open for days keeps the newest messages.
  #prune() {
    for (const id of this.#order.splice(0, this.#order.length - KEPT)) this.#forget(id);
  }

  #forget(id) {
    this.#reasoning.delete(this.get(id).reply_to);
    this.under.forget(id);
    this.#known.delete(id);
  }

  // Messages may have been erased: their words are neither quoted nor read out any more.
  #requote() {
    this.spoken.replaceChildren();
    for (const { element, message } of this.#known.values()) {
      const quote = message.reply_to && !this.get(message.reply_to) && element.querySelector('button.quote');
      if (quote) quote.replaceWith(this.#quote(message.reply_to));
      this.under.close(element);
    }
  }

  putPending(message, state) {
    if (this.has(message.id)) return;
    let entry = this.#known.get(message.id);
    if (!entry) {
      entry = this.#create(message, 'pending');
      const body = entry.element.querySelector('.body');
      body.classList.add('plain');
      body.textContent = message.text;
      this.#pending.push(message.id);
      this.#layout();
    }
    const line = entry.element.querySelector('.state');
    if (entry.element.dataset.state === state) return;
    entry.element.dataset.state = state;
    line.replaceChildren();
    if (state === 'retrying') {
      const retry = make('button', 'retry', t('Retry now'));
      retry.type = 'button';
      retry.addEventListener('click', () => this.onRetry());
      line.append(make('span', '', t('Not sent. Retrying…')), retry);
    } else if (state === 'sending') {
      line.append(make('span', '', t('Sending…')));
    }
  }

  removePending(id) {
    if (this.#known.get(id)?.stage !== 'pending') return;
    this.#known.delete(id);
    this.#pending = this.#pending.filter((other) => other !== id);
    this.#layout();
  }

  putDraft(message) {
    const entry = this.#known.get(message.id);
    this.#stale.delete(message.id);
    if (entry && entry.stage !== 'draft') return;
    if (entry) {
      if (!this.#queued.size) requestAnimationFrame(() => this.#drawDrafts());
      this.#queued.set(message.id, message);
      return;
    }
    const created = this.#create(message, 'draft');
    showBody(created.element.querySelector('.body'), message.html);
    this.#offerStop(created.element, message);
    this.drafts.append(created.element);
    this.#layout();
  }

  // The model's reasoning for a question; null discards it.
  addReasoning(id, delta) {
    if (delta === null) this.#reasoning.delete(id);
    else this.#reasoning.set(id, (this.#reasoning.get(id) ?? '') + delta);
    for (const { dataset } of this.drafts.children) {
      const { element, message } = this.#known.get(dataset.id);
      if (message.reply_to === id) this.#fold(element, message);
    }
  }

  removeDraft(id) {
    const entry = this.#known.get(id);
    if (entry?.stage !== 'draft') return;
    this.#queued.delete(id);
    this.#known.delete(id);
    entry.element.remove();
  }

  // Show what people think of an answer; `mine` is what one thinks oneself.
  takeReactions(id, reactions, mine) { this.under.take(id, reactions, mine, this.#known.get(id)?.element); }

  // A new name changes which messages are own ones.
  refreshOwn() {
    for (const { message, element, stage } of this.#known.values()) {
      this.#markOwn(element, message);
      if (stage === 'draft') this.#offerStop(element, message);
    }
  }

  reveal(id) {
    const entry = this.#known.get(id);
    if (!entry) return;
    this.showMessage(entry.element);
    entry.element.focus({ preventScroll: true });
    entry.element.classList.remove('found');
    void entry.element.offsetWidth;
    entry.element.classList.add('found');
  }

  // Two messages that come at once are both heard; older ones leave, which is not announced.
  #say(message) {
    if (this.isOwn(message.author.id)) return;
    const line = make('p', '', `${this.nameOf(message)}: ${spokenText(message.html)}`);
    this.spoken.append(line);
    while (this.spoken.childElementCount > MAX_SPOKEN) this.spoken.firstElementChild.remove();
    setTimeout(() => line.remove(), SPOKEN_MS); // whoever reads the page finds it once
  }

  #dropStale() {
    for (const id of this.#stale) this.removeDraft(id);
    this.#stale.clear();
    this.onChange();
  }

  #drawDrafts() {
    for (const [id, message] of this.#queued) {
      const entry = this.#known.get(id);
      if (entry?.stage !== 'draft') continue;
      entry.message = message;
      showBody(entry.element.querySelector('.body'), message.html);
    }
    this.#queued.clear();
  }

  // Finish a message in the element that it already has.
  #settle(message) {
    let entry = this.#known.get(message.id);
    if (entry && entry.message.role !== message.role) {
      this.#known.delete(message.id);
      entry.element.remove();
      entry = null;
    }
    entry ??= this.#create(message, 'log');
    if (entry.stage === 'pending') this.#pending = this.#pending.filter((id) => id !== message.id);
    this.#queued.delete(message.id);
    if (entry.html === message.html && entry.stage === 'log' && entry.html !== null) {
      entry.message = message;
      this.#offerButtons(entry.element, message);
      return entry;
    }
    const { element } = entry;
    if (entry.stage === 'pending') element.querySelector('.pictures')?.remove();
    element.classList.remove('draft');
    const body = element.querySelector('.body');
    body.classList.remove('plain');
    showBody(body, message.html);
    Object.assign(entry, { message, html: message.html ?? '', stage: 'log' });
    element.removeAttribute('aria-busy');
    delete element.dataset.state;
    element.querySelector('.state').replaceChildren();
    this.#dress(element, message);
    this.#offerButtons(element, message);
    return entry;
  }

  #create(message, stage) {
    const element = make('article', `msg ${this.hueOf(message)}`);
    serial += 1;
    element.dataset.id = message.id;
    element.dataset.role = message.role;
    element.tabIndex = -1;
    element.setAttribute('aria-labelledby', `who-${serial} when-${serial}`);

    const node = make('span', 'node');
    node.setAttribute('aria-hidden', 'true');
    if (message.role === 'agent') node.append(icon('reel', 'reel'));

    const head = make('header', 'head');
    const who = make('span', 'who');
    who.id = `who-${serial}`;
    const when = make('time', 'when');
    when.id = `when-${serial}`;
    head.append(who, make('span', 'tags'), when);

    const paper = make('div', 'paper');
    paper.append(make('div', 'body'));
    element.append(node, head, paper, make('p', 'state'));

    if (message.role !== 'notice') {
      const reply = make('button', 'reply');
      reply.type = 'button';
      reply.setAttribute('aria-label', t('Reply to {0}', this.nameOf(message)));
      reply.title = t('Reply');
      reply.append(icon('i-reply'));
      reply.addEventListener('click', () => this.onReply(message.id));
      element.append(reply);
    }
    if (stage === 'draft') {
      element.classList.add('draft');
      element.setAttribute('aria-busy', 'true');
    }
    if (this.#primed) {
      element.classList.add('arriving');
      element.addEventListener('animationend', () => element.classList.remove('arriving'), { once: true });
    }
    this.#dress(element, message);
    const entry = { message, element, html: null, stage };
    this.#known.set(message.id, entry);
    return entry;
  }

  // Name, time, labels and quote.
  #dress(element, message) {
    element.classList.replace([...element.classList].find((name) => name.startsWith('hue-')), this.hueOf(message));
    element.querySelector('.who').textContent = this.nameOf(message);
    const when = element.querySelector('.when');
    const date = new Date(message.date);
    if (!Number.isNaN(+date)) {
      when.dateTime = date.toISOString();
      when.textContent = clock.format(date);
      when.title = fullDate.format(date);
    }
    this.#markOwn(element, message);
    const paper = element.querySelector('.paper');
    paper.querySelector('.quote')?.remove();
    if (message.reply_to) paper.prepend(this.#quote(message.reply_to));
    this.#picture(paper, message);
    if (message.role === 'agent') this.#fold(element, message);
    if (message.role === 'agent' || hasFailed(message)) this.under.offer(element, message);
  }

  // The images of a message, as they were sent; its frame has their height before they come.
  #picture(paper, message) {
    const names = message.images ?? message.files?.map(({ name }) => name) ?? [];
    if (!names.length || paper.querySelector('.pictures')) return;
    const row = make('div', 'pictures');
    row.append(...names.map((name, number) => {
      const link = make('a');
      const image = make('img');
      image.src = message.images ? this.imageOf(message.again ?? message.id, number) : `data:${message.files[number].mime};base64,${message.files[number].data}`;
      image.alt = name;
      image.loading = 'lazy';
      if (message.images) Object.assign(link, { href: image.src, target: '_blank', rel: 'noopener noreferrer' });
      link.append(image);
      return link;
    }));
    paper.append(row);
  }

  #fold(element, message) {
    const text = this.#reasoning.get(message.reply_to);
    let fold = element.querySelector('.reasoning');
    if (!text) {
      fold?.remove();
      return;
    }
    if (!fold) {
      fold = make('details', 'reasoning');
      fold.append(make('summary', '', t('Reasoning')), make('p'));
      element.querySelector('.body').before(fold);
    }
    fold.lastElementChild.textContent = text;
  }

  // A press goes to the gateway, which says what came of it: the buttons stay until then.
  #offerButtons(element, message) {
    const paper = element.querySelector('.paper');
    paper.querySelector('.choices')?.remove();
    if (!message.buttons?.length) return;
    const row = make('div', 'choices');
    row.setAttribute('role', 'group');
    row.setAttribute('aria-label', t('Answers'));
    for (const { label, token } of message.buttons) {
      const button = make('button', 'choice', label);
      button.type = 'button';
      button.addEventListener('click', () => {
        this.note(message.id, '');
        this.onPress(message.id, token);
      });
      row.append(button);
    }
    paper.append(row);
  }

  // Show a sentence below a message, to this person only.
  note(id, text) {
    const line = this.#known.get(id)?.element.querySelector('.state');
    line?.querySelector('.pressed')?.remove();
    if (line && text) line.append(make('span', 'pressed', text));
  }

  #markOwn(element, message) {
    const own = message.role === 'person' && this.isOwn(message.author.id);
    element.toggleAttribute('data-own', own);
    const tags = element.querySelector('.tags');
    tags.replaceChildren();
    if (own) tags.append(make('span', 'tag-own', t('you')));
    if (element.classList.contains('draft')) tags.append(make('span', 'tag-writing', t('writing')));
    const quiet = message.role === 'person' && message.to_agent === false;
    element.toggleAttribute('data-quiet', quiet);
    if (quiet) tags.append(make('span', 'tag-quiet', t('people only')));
  }

  // An answer to somebody else has a Stop of its own, for who may: the composer's ends only one's own.
  #offerStop(element, message) {
    const line = element.querySelector('.state');
    line.replaceChildren();
    if (this.asksOwn(message.reply_to)) return;
    const asked = this.get(message.reply_to);
    const asker = asked ? this.nameOf(asked) : t('somebody else');
    line.append(make('span', '', t('For {0}', asker)));
    if (!this.mayStop()) return;
    const stop = make('button', 'retry', t('Stop'));
    stop.type = 'button';
    stop.setAttribute('aria-label', t('Stop the answer to {0}', asker));
    stop.addEventListener('click', () => this.onStop(message.id));
    line.append(stop);
  }

  #quote(id) {
    const target = this.get(id);
    if (!target) return make('p', 'quote', t('In reply to an earlier message'));
    const quote = make('button', `quote ${this.hueOf(target)}`);
    quote.type = 'button';
    quote.append(
      make('span', 'sr-only', `${t('In reply to')} `),
      make('b', 'quote-who', this.nameOf(target)), ' ',
      make('span', 'quote-text', excerpt(target)),
    );
    quote.addEventListener('click', () => this.reveal(id));
    return quote;
  }

  // Draw the lanes and splices that the gateway knows.
  setTrack(track, isWhole) {
    if (this.#track.take(track, isWhole)) this.#layout();
  }

  #layout() {
    let day = '';
    let before = null;
    let last = '';
    const used = new Set();
    const lay = (ids) => {
      const wanted = [];
      for (const id of ids) {
        const { message, element } = this.#known.get(id);
        const date = new Date(message.date);
        const key = dayKey(date);
        if (key && key !== day) {
          day = key;
          before = null;
          if (!used.has(key)) wanted.push(this.#separator(key, date));
          used.add(key);
        }
        const splices = last ? this.#track.between(last, message.date) : [];
        if (splices.length) before = null;
        wanted.push(...splices);
        last = message.date;
        element.classList.toggle('joined', joins(before, message));
        wanted.push(element);
        before = message;
      }
      return wanted;
    };
    const log = lay(this.#order);
    if (last) log.push(...this.#track.between(last, '~'));
    last = '~'; // no splice stands in two places
    const pending = lay(this.#pending);
    for (const key of this.#days.keys()) if (!used.has(key)) this.#days.delete(key);
    arrange(this.log, log);
    arrange(this.pending, pending);
    const drafts = [...this.drafts.children].filter((el) => this.#known.get(el.dataset.id)?.stage === 'draft');
    arrange(this.drafts, drafts);
    const shown = [...this.log.children, ...this.pending.children, ...drafts].filter(({ dataset }) => this.#known.has(dataset.id));
    this.#track.draw(shown.map((element) => this.#known.get(element.dataset.id)));
  }

  #separator(key, date) {
    let element = this.#days.get(key);
    if (!element) {
      element = make('p', 'day');
      element.append(make('span'));
      this.#days.set(key, element);
    }
    const name = dayName(date);
    if (element.firstChild.textContent !== name) element.firstChild.textContent = name;
    return element;
  }
}
