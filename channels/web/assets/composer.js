// The composer: text field, switch to ask the agent, reply chip, commands, buttons.

import { setUpAttaching } from './attach.js';
import { store } from './link.js';
import { excerpt } from './markup.js';
import { make } from './parts.js';
import { counted, t } from './words.js';

// A slash opens a command as a comma does.
const opens = (text) => /^[,/]/.test(text);

const wordOf = (text) => text.slice(1).split(/\s/)[0].toLowerCase();

const $ = (id) => document.getElementById(id);

export function setUpComposer({
  room, announce, get, nameOf, onSend, onStop,
}) {
  const form = $('composer');
  const field = $('composer-input');
  const ask = $('ask-agent');
  const list = $('commands');
  const error = $('composer-error');
  const stop = $('stop-button');
  const textKey = `tapeway.text.${room}`;
  let agent = 'Tapeway';
  let reply = null;
  let running = false;
  let stopping = 0;
  let commands = []; // { name, usage, about }, as the gateway offers them
  let shown = []; // commands in the list
  let active = -1;
  let closedFor = null; // text for which the list was closed by Escape

  // -- text

  const growsItself = CSS.supports('field-sizing', 'content');

  function grow() {
    if (growsItself) return;
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
  }

  function setText(text) {
    field.value = text;
    changed();
  }

  function changed() {
    grow();
    store.set('sessionStorage', textKey, field.value || null);
    form.classList.toggle('has-text', field.value.trim() !== '');
    listCommands();
  }

  function fill(text) {
    setText(text);
    field.focus();
    field.setSelectionRange(text.length, text.length);
  }

  function showError(sentence) {
    error.hidden = !sentence;
    error.textContent = sentence;
  }

  const attaching = setUpAttaching({ form, field, announce, onError: showError });

  // -- ask the agent or not

  function showAudience() {
    form.classList.toggle('quiet', !ask.checked);
    field.placeholder = t(ask.checked ? 'Message {0} and the room' : 'Message the people here, not {0}', agent);
  }

  function setAsk(on) {
    ask.checked = on;
    store.set('sessionStorage', 'tapeway.ask', on);
    showAudience();
  }

  ask.addEventListener('change', () => {
    setAsk(ask.checked);
    announce(t(ask.checked ? '{0} will answer' : '{0} will not answer', agent));
  });

  // -- reply

  function replyTo(message) {
    reply = message ? message.id : null;
    $('reply-chip').hidden = !message;
    $('reply-author').textContent = message ? nameOf(message) : '';
    $('reply-excerpt').textContent = message ? excerpt(message, 100) : '';
    if (message) {
      announce(t('Replying to {0}', nameOf(message)));
      field.focus();
    }
  }

  $('reply-remove').addEventListener('click', () => {
    replyTo(null);
    field.focus();
  });

  // -- commands

  function listCommands() {
    const text = field.value;
    if (text !== closedFor) closedFor = null;
    const typed = text.slice(1).toLowerCase();
    const known = commands.some(({ name }) => name === typed);
    const wanted = opens(text) && closedFor === null && !known && !/\s/.test(text)
      ? commands.filter(({ name }) => name.startsWith(typed))
      : [];
    if (wanted.length === shown.length && wanted.every((command, i) => command === shown[i])) return;
    const opened = !shown.length && wanted.length;
    shown = wanted;
    list.hidden = !shown.length;
    list.replaceChildren(...shown.map(({ usage, about }, i) => {
      const option = make('div', 'command');
      option.id = `command-${i}`;
      option.setAttribute('role', 'option');
      option.append(make('code', '', `${field.value[0]}${usage}`), make('span', '', about));
      option.addEventListener('pointerdown', (event) => event.preventDefault());
      option.addEventListener('click', () => pick(i));
      option.addEventListener('pointermove', () => { if (active !== i) activate(i); });
      return option;
    }));
    activate(shown.length ? 0 : -1);
    if (opened) announce(t('{0}. Choose with the up and down arrows', counted(shown.length, 'command')));
  }

  function activate(index) {
    active = index;
    [...list.children].forEach((option, i) => option.setAttribute('aria-selected', String(i === index)));
    list.children[index]?.scrollIntoView({ block: 'nearest' });
    if (index >= 0) field.setAttribute('aria-activedescendant', `command-${index}`);
    else field.removeAttribute('aria-activedescendant');
  }

  function closeCommands() {
    closedFor = field.value;
    listCommands();
  }

  function pick(index) {
    const { name, usage } = shown[index];
    if (!ask.checked) {
      setAsk(true); // a command is a word to the agent
      announce(t('Ask {0} is on', agent));
    }
    fill(`${field.value[0]}${name}${usage.includes('=') ? ' ' : ''}`);
  }

  // -- keys

  field.addEventListener('keydown', (event) => {
    if (event.isComposing || event.keyCode === 229) return;
    if (shown.length) {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        activate((active + step + shown.length) % shown.length);
        return;
      }
      if ((event.key === 'Enter' || event.key === 'Tab') && !event.shiftKey) {
        event.preventDefault();
        pick(active);
        return;
      }
    }
    if (event.key === 'Enter' && !event.shiftKey && !event.ctrlKey && !event.altKey && !event.metaKey) {
      event.preventDefault();
      form.requestSubmit();
    }
  });

  field.addEventListener('input', () => {
    showError('');
    changed();
  });

  // Who scrolls the list goes on writing.
  list.addEventListener('focus', () => field.focus());
  field.addEventListener('blur', ({ relatedTarget }) => { if (shown.length && relatedTarget !== list) closeCommands(); });

  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    field.focus();
    if (!text && !attaching.any) return;
    showError('');
    const isCommand = opens(text) && commands.some(({ name }) => name === wordOf(text));
    const message = { text, toAgent: ask.checked || isCommand, replyTo: reply };
    setText('');
    replyTo(null);
    const files = await attaching.take();
    if (files && (text || files.length)) onSend({ ...message, files });
    else if (!files) {
      setText([text, field.value].filter(Boolean).join('\n'));
      if (!reply) replyTo(get(message.replyTo));
    }
  });

  // -- stop

  function setRunning(on) {
    if (on === running) return;
    running = on;
    stopping = 0;
    if (!on && document.activeElement === stop) field.focus();
    stop.hidden = !on;
    stop.setAttribute('aria-disabled', 'false');
    $('stop-text').textContent = t('Stop');
  }

  async function stopAnswer() {
    if (!running || stopping) return;
    const mine = Date.now();
    stopping = mine;
    stop.setAttribute('aria-disabled', 'true');
    $('stop-text').textContent = t('Stopping…');
    await onStop();
    // Offer Stop again if the answer is still running after a while.
    setTimeout(() => {
      if (stopping !== mine) return;
      stopping = 0;
      stop.setAttribute('aria-disabled', 'false');
      $('stop-text').textContent = t('Stop');
    }, 3000);
  }

  stop.addEventListener('click', stopAnswer);

  setAsk(store.get('sessionStorage', 'tapeway.ask') ?? true);
  setText(store.get('sessionStorage', textKey) ?? '');

  return {
    fill,
    showError,
    replyTo,
    // Messages may have been erased: the chip shows a part of one.
    checkReply() { if (!get(reply)) replyTo(null); },
    setRunning,
    focus: () => field.focus(),
    setCommands(offered) {
      commands = offered.map(({ usage, about }) => ({ usage, about: about.replaceAll('`', ''), name: usage.split(' ')[0] }));
      listCommands();
    },
    setAgent(name) {
      agent = name;
      showAudience();
    },
    // Put a refused message back into the field, before newer text.
    giveBack({ text, to_agent: toAgent, files }, replied, sentence) {
      if (files?.length) attaching.giveBack(files);
      const since = field.value;
      if (!since.trim()) setAsk(toAgent);
      setText(since.trim() ? `${text}\n${since}` : text);
      if (replied && !reply) replyTo(replied);
      showError(sentence);
    },
    // Return whether Escape closed something.
    escape() {
      if (shown.length) closeCommands();
      else if (running) stopAnswer();
      else if (reply) {
        replyTo(null);
        field.focus();
      } else return false;
      return true;
    },
  };
}
