// The room: connects the transcript and the composer to the gateway.

import {
  Outbox, Stream, ask as call, base, becomePerson, cleanName, goToLogin, newMessageId, post, recallPerson, refusal,
  returnFromLogin, store,
} from './link.js';
import { Faces } from './faces.js';
import { initial, make } from './parts.js';
import { setUpBodies } from './markup.js';
import { setUpAccess } from './access.js';
import { setUpComposer } from './composer.js';
import { setUpModel } from './model.js';
import { roomLink, roomName, setUpRooms } from './rooms.js';
import { setUpScrolling } from './scrolling.js';
import { Transcript } from './transcript.js';
import {
  LANGUAGES, chooseLanguage, counted, language, t, translate,
} from './words.js';

const $ = (id) => document.getElementById(id);

returnFromLogin();
translate();
const query = new URLSearchParams(location.search);
const room = roomName(query.get('room')) || 'lobby';
let person = recallPerson(query.get('as'));
if (!base) store.set('sessionStorage', 'tapeway.room', room); // where the console leads back to
let me = null; // { id, owner }, as the gateway says
let agent = 'Tapeway';
let here = [];
let unread = 0;
let pressing = Promise.resolve();
const title = { text: '', at: -1 }; // what the room is called, since which entry of its tape
const thinking = new Set();

function announce(text) {
  const announcer = $('announcer');
  announcer.textContent = '';
  setTimeout(() => { announcer.textContent = text; }, 60);
}

// ---- transcript -----------------------------------------------------------

const scrolling = setUpScrolling({
  scroller: $('scroller'), track: $('track'), jump: $('jump'), jumpText: $('jump-text'), spool: $('spool'),
});

const faces = new Faces(room, () => agent);
const transcript = new Transcript({
  log: $('messages'),
  pending: $('pending'),
  drafts: $('drafts'),
  spoken: $('spoken'),
  faces,
  isOwn: (id) => id === null || id === me?.id,
  onReply: (id) => composer.replyTo(transcript.get(id)),
  onRetry: () => outbox.kick(),
  mayStop: () => Boolean(me?.owner),
  onStop: (id) => stopAnswer(id),
  onPress: (id, button) => { pressing = pressing.then(() => press(id, button)); },
  onGoOn: (id) => ask(t('Go on'), true, id),
  onAgain: (id) => askAgain(transcript.get(transcript.get(id).reply_to)),
  onReact: async (id, value) => {
    handlers.reactions(await call(`/api/rooms/${encodeURIComponent(room)}/reactions`, { answer: id, value }));
  },
  why: (id) => call(`/api/rooms/${encodeURIComponent(room)}/why?answer=${encodeURIComponent(id)}`),
  imageOf: (id, number) => `${base}/api/rooms/${encodeURIComponent(room)}/messages/${encodeURIComponent(id)}/images/${number}`,
  linkTo: (id) => `${roomLink(room)}#${encodeURIComponent(id)}`,
  announce,
  showMessage: scrolling.show,
  isReading: scrolling.isReading,
  onChange: refresh,
});

setUpBodies($('track'), announce, (id, number) => `${base}/api/rooms/${encodeURIComponent(room)}/answers/${encodeURIComponent(id)}/images/${number}`);

const outbox = new Outbox(room, {
  onState: (message, state) => {
    transcript.putPending({
      ...message, role: 'person', author: { ...message.person, id: me?.id ?? null }, date: message.date ?? new Date().toISOString(), images: transcript.get(message.again)?.images,
    }, state);
    refresh();
  },
  onRefused: (message, sentence) => {
    transcript.removePending(message.id);
    composer.giveBack(message, transcript.get(message.reply_to), sentence);
    refresh();
  },
});

let historySeen = false;
let wasRunning = false;

// Everything that depends on the whole state.
function refresh() {
  const running = thinking.size > 0 || transcript.hasDraft;
  const own = transcript.hasOwnDraft || [...thinking].some((id) => transcript.asksOwn(id));
  $('typing').hidden = thinking.size === 0 || transcript.hasDraft;
  composer.setRunning(own);
  $('app').classList.toggle('running', running);
  if (running && !wasRunning) announce(t('{0} is thinking', agent));
  wasRunning = running;
  $('empty').hidden = !historySeen || !transcript.isEmpty || running;
  $('counter').textContent = String(transcript.size % 10000).padStart(4, '0');
  $('counter').title = t('{0} shown', counted(transcript.size, 'message'));
  $('counter').setAttribute('aria-label', $('counter').title);
}

function showTitle() {
  document.title = `${unread ? `(${unread}) ` : ''}${title.text || room} · ${agent}`;
  $('room-name').textContent = title.text || room;
  $('room-name').title = title.text ? room : '';
}

function countUnread(messages) {
  const others = messages.filter((message) => message.author.id !== me?.id);
  if (!others.length) return;
  scrolling.noteNew(others.length);
  if (document.hidden) {
    unread += others.length;
    showTitle();
  }
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden || !unread) return;
  unread = 0;
  showTitle();
});

// ---- events ---------------------------------------------------------------

const handlers = {
  hello(event) {
    agent = event.agent || agent;
    me = event.you ?? me;
    transcript.refreshOwn();
    for (const id of ['access-button', 'console-link', 'guest-button', 'model-link']) $(id).hidden = !me?.owner;
    rooms.offer(Boolean(me?.owner));
    $('leave-button').hidden = !me?.id.startsWith('w-');
    for (const element of document.querySelectorAll('[data-agent]')) element.textContent = agent;
    thinking.clear();
    composer.setAgent(agent);
    loadCommands();
    model.show(Boolean(event.hint));
    title.at = -1; // an erased title is gone
    handlers.title(event);
  },
  title({ title: text = '', titled_at: at = 0 }) {
    if (at < title.at) return;
    const entered = $('title-input').value.trim();
    if (entered === title.text) $('title-input').value = text; // what is being written stays
    Object.assign(title, { text, at });
    showTitle();
  },
  history({ messages }) {
    const fresh = transcript.setHistory(messages ?? []);
    for (const message of messages ?? []) outbox.settle(message.id);
    for (const id of outbox.lost()) {
      outbox.settle(id);
      transcript.removePending(id);
    }
    composer.checkReply();
    if (historySeen) countUnread(fresh);
    else {
      scrolling.toEnd();
      showLinked();
    }
    historySeen = true;
    loadTrack(200);
  },
  message({ message }) {
    outbox.settle(message.id);
    if (transcript.put(message)) countUnread([message]);
    loadTrack();
  },
  draft({ message }) { transcript.putDraft(message); },
  'draft.removed': ({ id }) => transcript.removeDraft(id),
  typing({ on, key }) {
    if (on) thinking.add(key);
    else thinking.delete(key);
  },
  reasoning({ reply_to: id, delta, reset }) { transcript.addReasoning(id, reset ? null : delta); },
  reactions({ id, reactions, mine }) { transcript.takeReactions(id, reactions, mine); },
  pressed({ id, text }) {
    if (text) announce(text);
    transcript.note(id, text);
  },
  people({ people }) {
    here = people ?? [];
    showPeople();
    showName();
  },
};

// Lanes and splices are known once a message is on the tape; several at once are one request.
let trackWanted = 0;

async function loadTrack(newest = 20) {
  const waits = trackWanted > 0;
  trackWanted = Math.max(trackWanted, newest);
  if (waits) return;
  await new Promise((resolve) => { setTimeout(resolve, 300); });
  const wanted = trackWanted;
  trackWanted = 0;
  try {
    transcript.setTrack(await call(`/api/rooms/${encodeURIComponent(room)}/track?newest=${wanted}`), wanted >= 200);
  } catch { /* the next message asks again */ }
}

// The palette offers what one may use here; without an answer it offers nothing.
async function loadCommands() {
  try { composer.setCommands(await call(`/api/rooms/${encodeURIComponent(room)}/commands`)); } catch { /* asked again with the next hello */ }
}

let statusTimer = 0;

function showStatus(state) {
  const apply = () => {
    const line = $('connection');
    if (line.dataset.state === state) return;
    line.dataset.state = state;
    line.textContent = t(state === 'connected' ? 'connected' : 'reconnecting…');
  };
  clearTimeout(statusTimer);
  // A connection that is back at once is not worth a notice.
  if (state === 'connected') apply();
  else statusTimer = setTimeout(apply, 700);
}

const stream = new Stream({
  onStatus: (state) => {
    showStatus(state);
    if (state === 'connected') outbox.kick();
  },
  onEvent: (event) => {
    if (!Object.hasOwn(handlers, event.type)) return;
    handlers[event.type](event);
    refresh();
  },
});

const model = setUpModel({ announce, onClosed: () => composer.focus() });

// ---- people and names -----------------------------------------------------

function disc(someone, className = '') {
  return make('span', `disc ${faces.hueOf(someone.id)} ${className}`.trim(), initial(someone.name));
}

function showPeople() {
  const count = here.length;
  const many = t('{0} here', counted(count, 'person', 'people'));
  $('people-count').textContent = String(count);
  $('people-words').textContent = many;
  $('people-discs').replaceChildren(...here.slice(0, 3).map((someone) => disc(someone)));
  $('people-list').replaceChildren(...here.map((someone) => {
    const item = make('li');
    const face = disc(someone);
    face.setAttribute('aria-hidden', 'true');
    item.append(face, make('span', 'people-name', faces.nameOf(someone)));
    if (someone.id === me?.id) item.append(make('span', 'tag-own', t('you')));
    return item;
  }));
}

const rooms = setUpRooms({ room, announce, onTitle: (event) => handlers.title(event) });

const people = $('people');
$('language').replaceChildren(...Object.entries(LANGUAGES).map(([tag, name]) => new Option(name, tag, false, tag === language)));
$('language').addEventListener('change', () => chooseLanguage($('language').value));
const menu = $('menu');
$('model-panel-button').addEventListener('click', () => { menu.open = false; });
const panels = [people, $('rooms'), menu];
document.addEventListener('pointerdown', ({ target }) => {
  for (const panel of panels) if (panel.open && !panel.contains(target)) panel.open = false;
});
for (const panel of panels) {
  panel.addEventListener('focusout', ({ relatedTarget }) => {
    if (relatedTarget && !panel.contains(relatedTarget)) panel.open = false;
  });
}

function showName() {
  const face = $('name-disc');
  face.className = me ? `disc ${faces.hueOf(me.id)}` : 'disc';
  face.textContent = initial(person.name);
  $('name-text').textContent = me ? faces.nameOf({ ...me, ...person }) : person.name;
  $('name-button').hidden = false;
  $('name-words').textContent = t('You are {0}. Change name', $('name-text').textContent);
  $('name-button').title = t('Change name');
}

const nameDialog = $('name-dialog');
const nameInput = $('name-input');

$('leave-button').addEventListener('click', async () => {
  try { await call('/api/session/end', {}); } catch { /* it ended already */ }
  location.assign('/login');
});

const access = setUpAccess({
  room,
  announce,
  nameOf: (id) => {
    const someone = here.find((one) => one.id === id);
    return someone && faces.nameOf(someone);
  },
  me: () => me,
});
$('access-button').addEventListener('click', () => {
  menu.open = false;
  access.open();
});

// A guest of one's own, in a window beside this one. It keeps nothing of this tab: a name, a draft.
$('guest-button').addEventListener('click', async () => {
  $('menu-error').hidden = true;
  try {
    const { code } = await call('/api/invitations', { room, uses: 1, minutes: 5 });
    window.open(`/login?${new URLSearchParams({ as: t('Guest') })}#code=${code}`, '_blank', 'noopener');
    menu.open = false;
  } catch (refused) {
    $('menu-error').textContent = refused.message;
    $('menu-error').hidden = false;
  }
});

function askName() {
  nameInput.value = person?.name ?? '';
  nameInput.setCustomValidity('');
  $('name-cancel').hidden = !person;
  $('name-title').textContent = t(person ? 'Change your name' : "What's your name?");
  $('name-about').textContent = t(person ? 'Messages you already sent keep your old name.' : 'Everyone in the room will see this name.');
  $('name-confirm').textContent = t(person ? 'Use this name' : 'Enter the room');
  nameDialog.returnValue = '';
  nameDialog.showModal();
  nameInput.focus();
  nameInput.select();
}

$('name-button').addEventListener('click', askName);
$('name-cancel').addEventListener('click', () => nameDialog.close());
nameInput.addEventListener('input', () => nameInput.setCustomValidity(''));
nameDialog.addEventListener('cancel', (event) => { if (!person) event.preventDefault(); });
$('name-form').addEventListener('submit', (event) => {
  const name = cleanName(nameInput.value);
  if (!name) {
    event.preventDefault();
    nameInput.setCustomValidity(t('Please write a name.'));
    nameInput.reportValidity();
    return;
  }
  if (name === person?.name) return;
  person = becomePerson(name);
  if (query.has('as')) {
    query.delete('as');
    history.replaceState(null, '', `${location.pathname}${`${query}` ? `?${query}` : ''}`);
  }
  enter();
});
nameDialog.addEventListener('close', () => {
  if (person) composer.focus();
  else askName();
});

// ---- composer -------------------------------------------------------------

const composer = setUpComposer({
  room,
  announce,
  get: (id) => transcript.get(id),
  nameOf: (message) => transcript.nameOf(message),
  onSend: ({
    text, toAgent, replyTo, files,
  }) => ask(text, toAgent, replyTo, files),
  onStop: () => stopAnswer(),
});

function ask(text, toAgent, replyTo, files = [], again = null) {
  if (!person) return;
  scrolling.toEnd();
  outbox.add({
    id: newMessageId(), person, text, to_agent: toAgent, reply_to: replyTo, files, again,
  });
}

// The gateway has the images of one's own message. Those of others stay theirs: the question is a reply
// to their message, where the model sees them.
function askAgain({ id, text, images, reply_to: replyTo }) {
  if (transcript.asksOwn(id)) ask(text, true, replyTo, [], id);
  else ask(text || t('Ask again'), true, images?.length ? id : replyTo);
}

// Press a button of a message; a retry would have another id, but a card is answered once, by
// the first press: they are sent one after another.
async function press(message, button) {
  const body = { id: newMessageId(), person, message, button };
  try {
    const response = await post(room, 'press', body);
    if (response.status === 401) goToLogin();
    else if (!response.ok) transcript.note(message, await refusal(response));
  } catch {
    transcript.note(message, t('The gateway cannot be reached. Press again.'));
  }
}

// Stop one's own newest answer, or the one with an id.
async function stopAnswer(answer = null) {
  try {
    const response = await post(room, 'stop', { person, answer });
    if (response.status === 401) goToLogin();
    else if (!response.ok) composer.showError(await refusal(response));
  } catch {
    composer.showError(t('The gateway cannot be reached, so the answer goes on for now.'));
  }
}

for (const prompt of document.querySelectorAll('.prompt')) {
  prompt.addEventListener('click', () => composer.fill(prompt.textContent));
}

// A link to a message of this room shows it.
document.addEventListener('click', (event) => {
  const link = event.target.closest('.body a[href^="#"]');
  if (!link) return;
  event.preventDefault();
  transcript.reveal(link.hash.slice(1));
});

// The page's address may lead to one message.
function showLinked() {
  const id = decodeURIComponent(location.hash.slice(1));
  if (!id) return;
  if (transcript.get(id)) transcript.reveal(id);
  else announce(t('That message is further back than this page shows'));
}

window.addEventListener('hashchange', showLinked);

$('skip').addEventListener('click', (event) => {
  event.preventDefault();
  composer.focus();
});

// Escape closes what is open, then stops the answer, then drops the reply.
document.addEventListener('keydown', (event) => {
  if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const opened = panels.find((panel) => panel.open);
  if (opened) {
    opened.open = false;
    opened.querySelector('summary').focus();
  } else if (!composer.escape()) {
    return;
  }
  event.preventDefault();
});

// ---- the visible part of the window, also above a phone's keyboard ----------

const view = window.visualViewport;
if (view) {
  const fit = () => {
    if (view.scale > 1.01) return; // zoomed in by hand
    const root = document.documentElement.style;
    root.setProperty('--view-height', `${view.height}px`);
    root.setProperty('--view-top', `${view.offsetTop}px`);
  };
  view.addEventListener('resize', fit);
  view.addEventListener('scroll', fit);
  fit();
}

// ---- begin ------------------------------------------------------------------

function enter() {
  showName();
  showPeople();
  transcript.refreshOwn();
  stream.open(room, person);
}

$('title-input').placeholder = room;
showTitle();
if (person) {
  enter();
  if (window.matchMedia('(hover: hover)').matches) composer.focus();
} else {
  askName();
}
outbox.restore();
refresh();
