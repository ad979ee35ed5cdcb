// The row under an answer: why it is as it is, copy, ask again, link, and what people think of it.
// One stop of the Tab key; the arrow keys go on from there.

import { amount } from './money.js';
import { excerpt } from './markup.js';
import { consoleKey, copyText, icon, make } from './parts.js';
import { counted, locale, t } from './words.js';

const MAX_READ = 12;
const number = new Intl.NumberFormat(locale);
const THUMBS = { up: t('Good answer'), down: t('Bad answer') };

export class Under {
  #figures = new Map(); // answer id -> promise of its figures
  #reactions = new Map(); // answer id -> { up, down, at, mine }

  constructor(parts) {
    // get, nameOf, reveal, ask, announce, onAgain, onGoOn, onReact, linkTo
    Object.assign(this, parts);
  }

  // Put the row under a message; what it offers depends on the message.
  offer(element, message) {
    const row = element.querySelector('.under') ?? element.appendChild(this.#row(element));
    const { id } = message;
    const wanted = [];
    if (message.role === 'agent') {
      wanted.push(['why', t('Why'), () => this.#toggle(row, id)], ['copy-answer', t('Copy'), () => this.#copy(row, id)]);
    }
    if (this.get(message.reply_to)) wanted.push(['again', t(message.role === 'agent' ? 'Ask again' : 'Try again'), () => this.onAgain(id)]);
    if (message.role === 'agent') {
      wanted.push(['link', t('Link'), () => this.#link(row, id)]);
      for (const value of Object.keys(THUMBS)) wanted.push([`thumb ${value}`, '', () => this.#react(id, value)]);
    }
    if (message.cut) wanted.push(['go-on', t('Go on'), () => this.onGoOn(id)]);
    const key = wanted.map(([name]) => name).join(' ');
    if (row.dataset.offers === key) return;
    row.dataset.offers = key;
    row.replaceChildren(...wanted.map(([name, label, act], i) => {
      const button = make('button', `under-button ${name}`, label);
      button.type = 'button';
      button.tabIndex = i ? -1 : 0;
      button.addEventListener('click', act);
      return button;
    }));
    row.querySelector('.why')?.setAttribute('aria-expanded', 'false');
    row.append(make('span', 'figures')); // last, so that no button moves away from the mouse when they come
    for (const thumb of row.querySelectorAll('.thumb')) thumb.append(icon('i-thumb'), make('span', 'thumb-count'));
    this.#showThumbs(row, id);
  }

  // ---- what people think of it

  // Take what the gateway knows: counts that are not older than those shown, and one's own thumb.
  take(id, counts, mine, element) {
    const known = this.#reactions.get(id) ?? { at: -1, mine: '' };
    const newer = counts && counts.at >= known.at ? counts : known;
    this.#reactions.set(id, { ...newer, mine: mine ?? known.mine });
    const row = element?.querySelector('.under');
    if (row) this.#showThumbs(row, id);
  }

  // The message is no longer shown.
  forget(id) {
    this.#figures.delete(id);
    this.#reactions.delete(id);
  }

  #showThumbs(row, id) {
    const { mine = '', ...counts } = this.#reactions.get(id) ?? {};
    for (const [value, label] of Object.entries(THUMBS)) {
      const thumb = row.querySelector(`.thumb.${value}`);
      if (!thumb) continue;
      const count = counts[value] ?? 0;
      thumb.setAttribute('aria-pressed', String(mine === value));
      thumb.setAttribute('aria-label', count ? `${label}: ${number.format(count)}` : label);
      thumb.title = label;
      thumb.toggleAttribute('data-counted', count > 0);
      thumb.lastElementChild.textContent = count ? number.format(count) : '';
    }
  }

  // A second click takes it back.
  async #react(id, value) {
    const taken = this.#reactions.get(id)?.mine === value;
    try {
      await this.onReact(id, taken ? '' : value);
      this.announce(taken ? t('Taken back') : THUMBS[value]);
    } catch (error) {
      this.announce(error.message);
      this.note(id, error.message);
    }
  }

  #row(element) {
    const row = make('div', 'under');
    row.setAttribute('role', 'toolbar');
    row.setAttribute('aria-label', t('This answer'));
    row.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const all = [...row.querySelectorAll('button')];
      const next = all[(all.indexOf(document.activeElement) + step + all.length) % all.length];
      for (const one of all) one.tabIndex = one === next ? 0 : -1;
      next.focus();
    });
    // The figures come when somebody looks, not with every answer.
    const look = () => this.#showChip(row, element.dataset.id);
    let timer = 0;
    element.addEventListener('pointerenter', ({ pointerType }) => { if (pointerType === 'mouse') timer = setTimeout(look, 150); });
    element.addEventListener('pointerleave', () => clearTimeout(timer));
    row.addEventListener('focusin', look);
    return row;
  }

  // ---- why

  #figuresOf(id) {
    if (!this.#figures.has(id)) {
      const asked = this.ask(id);
      asked.catch(() => this.#figures.delete(id)); // the next look asks again
      this.#figures.set(id, asked);
    }
    return this.#figures.get(id);
  }

  async #showChip(row, id) {
    const chip = row.querySelector('.why');
    if (!chip || chip.dataset.known || this.get(id)?.role !== 'agent' || row.closest('.draft')) return;
    try {
      const shown = row.querySelector('.figures');
      shown.textContent = chipText(await this.#figuresOf(id));
      shown.title = shown.textContent;
      chip.dataset.known = 'true';
      chip.setAttribute('aria-label', t('Why: {0}', shown.textContent));
    } catch { /* a click says what is wrong */ }
  }

  async #toggle(row, id) {
    const chip = row.querySelector('.why');
    if (this.close(row.parentElement)) return;
    let panel = null;
    try {
      panel = this.#panel(await this.#figuresOf(id));
      this.#showChip(row, id);
    } catch (error) {
      panel = make('section', 'why-panel');
      panel.append(make('p', '', error.message));
      this.announce(error.message);
    }
    if (row.parentElement.querySelector('.why-panel')) return; // two clicks, one answer
    panel.setAttribute('aria-label', t('Why this answer'));
    chip.setAttribute('aria-expanded', 'true');
    row.after(panel);
  }

  // Close what a message's *Why* has opened; return whether it had.
  close(element) {
    const open = element.querySelector('.why-panel');
    open?.remove();
    if (open) element.querySelector('.under .why').setAttribute('aria-expanded', 'false');
    return Boolean(open);
  }

  #panel(figures) {
    const panel = make('section', 'why-panel');
    const list = make('dl');
    const line = (name, ...what) => {
      const value = make('dd');
      value.append(...what);
      list.append(make('dt', '', name), value);
    };
    line(t('Read'), ...this.#messages(figures));
    const tools = Object.entries(figures.tools).map(([name, times]) => (times > 1 ? t('{0} ({1} times)', name, times) : name));
    line(t('Tools'), tools.join(', ') || t('none'));
    if (figures.model) line(t('Model'), `${figures.model}, ${counted(figures.calls, 'call')}`);
    if (figures.seconds !== null) line(t('Time'), `${figures.seconds.toFixed(1)} s`);
    const [input, cached, output] = figures.tokens;
    if (input || output) {
      const parts = [
        t(cached ? '{0} in ({1} of them cached)' : '{0} in', number.format(input), number.format(cached)),
        t('{0} out', number.format(output)), figures.estimated && t('in part estimated'),
      ];
      line(t('Tokens'), parts.filter(Boolean).join(', '));
    }
    if (figures.cost || figures.unpriced) line(t('Cost'), money(figures));
    if (figures.cut?.length) line(t('Links'), cutText(figures.cut));
    panel.append(list);
    if (figures.session) {
      const more = make('a', 'why-more', t('All that the model was shown, in the console'));
      more.href = `/console#/turn/${consoleKey(figures.session)}/${encodeURIComponent(figures.turn)}`;
      panel.append(more);
    }
    return panel;
  }

  // The messages that the model was shown, as far as the page has them too.
  #messages({ read, messages }) {
    const known = messages.map((id) => this.get(id)).filter(Boolean);
    if (!known.length) return [counted(read, 'message')];
    const list = make('ul', 'why-read');
    const rest = read - Math.min(known.length, MAX_READ);
    if (rest > 0) list.append(make('li', '', t('{0} further back', counted(rest, 'message'))));
    for (const message of known.slice(-MAX_READ)) {
      const item = make('li');
      const link = make('button', 'why-message');
      link.type = 'button';
      link.append(make('b', '', this.nameOf(message)), ` ${excerpt(message, 80)}`);
      link.addEventListener('click', () => this.reveal(message.id));
      item.append(link);
      list.append(item);
    }
    return [list];
  }

  // ---- copy and link

  #copy(row, id) { this.#copied(row.querySelector('.copy-answer'), this.get(id).text, t('Copy')); }

  #link(row, id) { this.#copied(row.querySelector('.link'), this.linkTo(id), t('Link')); }

  async #copied(button, text, label) {
    const done = await copyText(text);
    button.textContent = t(done ? 'Copied' : 'Failed');
    this.announce(t(done ? 'Copied' : 'Copying failed'));
    setTimeout(() => { button.textContent = label; }, 1600);
  }
}

// What is `unpriced` has no known price, which is not 0.
function money({ cost, currency, estimated, unpriced }) {
  if (unpriced && cost === null) return t('price unknown');
  const known = amount(cost, currency, locale);
  if (unpriced) return t('at least {0}', known);
  return t(estimated ? 'about {0}' : '{0}', known);
}

// Which links lost something on the way, for what others wrote was in view.
function cutText(hosts) {
  const why = t('Shortened where … stands, so that they tell nothing of this chat');
  const named = hosts.filter(Boolean).join(', ');
  return named ? t('{0}: {1}', why, named) : why;
}

function chipText(figures) {
  const searches = Object.entries(figures.tools).reduce((sum, [name, times]) => sum + (/search/.test(name) ? times : 0), 0);
  const others = Object.values(figures.tools).reduce((sum, times) => sum + times, 0) - searches;
  return [
    t('{0} read', counted(figures.read, 'message')),
    searches && counted(searches, 'search', 'searches'),
    others && counted(others, 'tool call'),
    figures.model,
    figures.seconds !== null && `${figures.seconds.toFixed(1)} s`,
    figures.cost > 0 && t('cost {0}', money(figures)),
  ].filter(Boolean).join(' · ');
}
