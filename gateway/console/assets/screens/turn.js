// The view inspector: the prompt of each model call of a turn, by where its parts come from.

import { get } from '../api.js';
import { Changes } from '../changes.js';
import { make, svg, term } from '../dom.js';
import { toTape } from '../screen.js';
import { addWords, number, t } from '../words.js';
import { DASH, clock, day, took } from './durations.js';
import { rerun } from './rerun.js';

addWords({
  en: {
    'turn.title': 'What the model was shown', 'turn.why': 'Why this answer', 'turn.tape': 'On its tape', 'turn.steps': 'Model calls', 'turn.step': 'Call {0}',
    'turn.model': 'Model', 'turn.took': 'This call, with its tools', 'turn.ended': 'Ended', 'turn.reported': 'Prompt', 'turn.tokens': '{0} token|{0} tokens', 'turn.cached': 'Of them cached', 'turn.output': 'Answer', 'turn.none': 'no model answered',
    'turn.bar': 'The prompt by origin: {0}', 'turn.shared': 'The provider counted {0} tokens in all; how many each part has is estimated.', 'turn.estimated': 'The provider did not say how many tokens it counted: about {0}, by estimate.',
    'turn.asked': 'Asked', 'turn.answered': 'Answered', 'turn.no-answer': 'This turn has no answer.', 'turn.failed': 'This turn ended without an answer: {0}', 'turn.why.failed': 'Why', 'turn.unshown': 'The question is not shown: it was deleted or erased.', 'turn.unrecorded': 'No message is recorded as the question of this turn: perhaps it was asked again later.', 'turn.tools.now': 'What the descriptions say is not recorded: this is how they read now.',
    'turn.system': 'System', 'turn.anchor': 'Checkpoint', 'turn.lane': 'Its conversation', 'turn.elsewhere': 'From elsewhere', 'turn.evidence': 'Evidence', 'turn.question': 'Question', 'turn.tools': 'Tool descriptions',
    'turn.same': 'By estimate, {0} tokens compared with the call before it; its prefix is unchanged ({1} tokens).', 'turn.changed': 'By estimate, {0} tokens compared with the call before it; the prefix holds for {1} tokens, then {2} of its messages changed or left.',
    'turn.says.system': 'What the settings and the gateway say to the model each time.', 'turn.says.anchor': 'What the model needs to know from before: the view begins here.', 'turn.says.lane': 'Earlier messages of the same conversation.', 'turn.says.elsewhere': 'Messages of other conversations in this chat.',
    'turn.says.evidence': 'Calls of tools, and what they returned.', 'turn.says.question': 'The messages that are answered.', 'turn.says.tools': 'Which tools the model may call, and how.',
    'turn.first': 'No earlier call is recorded in this conversation.', 'turn.before': 'The call before it',
    'turn.exact': 'These messages are what was sent, byte for byte. The descriptions of the tools went with them.', 'turn.blanked': 'Since then, {0} message was deleted, or quotes one that was: it is blank here.|Since then, {0} messages were deleted, or quote one that was: they are blank here.', 'turn.parts': 'The prompt', 'turn.new': 'new', 'turn.splice': 'The call before it began with the same messages up to here',
    'turn.entry': 'entry {0}', 'turn.more': '{0} more character|{0} more characters', 'turn.images': '{0} image|{0} images', 'turn.calls': 'calls {0}', 'turn.left': '{0} older part is not shown.|{0} older parts are not shown.',
  },
  zh: {
    'turn.title': '模型看到的内容', 'turn.why': '为何这样回答', 'turn.tape': '在磁带上查看', 'turn.steps': '模型调用', 'turn.step': '第 {0} 次调用',
    'turn.model': '模型', 'turn.took': '此次调用（含工具）', 'turn.ended': '结束', 'turn.reported': '提示', 'turn.tokens': '{0} 个词元', 'turn.cached': '其中缓存', 'turn.output': '回答', 'turn.none': '没有模型回答',
    'turn.bar': '按来源划分的提示：{0}', 'turn.shared': '提供方共计 {0} 个词元；各部分的数量为估算。', 'turn.estimated': '提供方未报告词元数：估算约 {0} 个。',
    'turn.asked': '问题', 'turn.answered': '回答', 'turn.no-answer': '这一轮没有回答。', 'turn.failed': '这一轮没有得到回答：{0}', 'turn.why.failed': '原因', 'turn.unshown': '问题不予显示：已被删除或抹除。', 'turn.unrecorded': '没有消息被记录为这一轮的问题：可能后来又重新提问了。', 'turn.tools.now': '当时的说明没有记录：以下是现在的内容。',
    'turn.system': '系统', 'turn.anchor': '检查点', 'turn.lane': '本对话', 'turn.elsewhere': '来自别处', 'turn.evidence': '依据', 'turn.question': '问题', 'turn.tools': '工具说明',
    'turn.same': '按估算，与上一次调用相比 {0} 个词元；前缀未变（{1} 个词元）。', 'turn.changed': '按估算，与上一次调用相比 {0} 个词元；前缀保持 {1} 个词元，其后 {2} 条消息已变或移除。',
    'turn.says.system': '设置和网关每次对模型说的话。', 'turn.says.anchor': '模型需要了解的前情：视图从这里开始。', 'turn.says.lane': '同一对话中更早的消息。', 'turn.says.elsewhere': '此聊天中其他对话的消息。',
    'turn.says.evidence': '工具调用及其结果。', 'turn.says.question': '被回答的消息。', 'turn.says.tools': '模型可以调用哪些工具以及如何调用。',
    'turn.first': '此对话中没有更早的调用记录。', 'turn.before': '上一次调用',
    'turn.exact': '以下消息与发送内容逐字节一致。工具说明也一并发送。', 'turn.blanked': '此后有 {0} 条消息被删除或引用了已删除的消息，此处留空。', 'turn.parts': '提示内容', 'turn.new': '新增', 'turn.splice': '到此为止与上一次调用相同',
    'turn.entry': '记录 {0}', 'turn.more': '还有 {0} 个字符', 'turn.images': '{0} 张图片', 'turn.calls': '调用 {0}', 'turn.left': '较早的 {0} 个部分未显示。',
  },
});

export const ORIGINS = ['system', 'anchor', 'lane', 'elsewhere', 'evidence', 'question'];

export const title = () => t('turn.title');

export function mount(root, { chat, turn, at }) {
  const section = make('section', { class: 'column turn', 'aria-busy': 'true' }, make('h1', {}, t('turn.title')), make('p', { class: 'empty' }, t('loading')));
  root.append(section);
  const ends = new AbortController();
  const path = `chats/${encodeURIComponent(chat)}/turns/${encodeURIComponent(turn)}`;
  let round = 0;
  let shown = '';
  let prompt = { of: '' };

  // Most of what is changed in the chat is not of this turn: that takes nobody's focus away. While the
  // prompt is what it was, what was ticked stays, and so does another run of it.
  function redraw(view) {
    const now = JSON.stringify({ ...view, chat: { ...view.chat, heard: '' } });
    if (now === shown) return;
    shown = now;
    const of = JSON.stringify([view.parts, view.tools, view.before, view.answer, view.can_rerun]);
    if (of !== prompt.of) prompt = { of, ...drawPrompt(view, path, ends.signal) };
    const focused = document.activeElement;
    section.replaceChildren(...draw(view, prompt));
    if (section.contains(focused)) focused.focus({ preventScroll: true });
  }

  async function show() {
    const own = ++round;
    try {
      const view = await get(at ? `${path}?at=${Number(at) - 1}` : path, { signal: ends.signal });
      if (own === round) redraw(view);
    } catch (cause) {
      if (cause.name === 'AbortError') return;
      shown = '';
      section.replaceChildren(make('h1', {}, t('turn.title')), make('p', { class: 'empty', role: 'alert' }, cause.message), toTape(chat));
    } finally {
      section.removeAttribute('aria-busy');
    }
  }
  // What was deleted is blank at once; nothing else changes a prompt that was sent.
  const changes = new Changes(chat, ends.signal, show);
  changes.begin().then(show);
  changes.follow(chat);
  return () => ends.abort();
}

function drawPrompt({ chat, at, tools, parts, before, can_rerun: canRerun }, path, signal) {
  const list = make('ol', { class: 'parts', 'aria-labelledby': 'turn-parts' }, tools ? toolsItem(tools) : null, spliced(parts, chat, before));
  return { list, again: canRerun ? rerun({ path, at, parts, list, signal }) : null };
}

function draw(view, { list, again }) {
  const { chat, turn, at, steps, tokens, tools, parts, before, message } = view;
  const own = steps[at];
  return [
    make('p', { class: 'turn-where' }, make('bdi', {}, chat.title), ' · ', day(own.date), ' · ', clock(own.date)),
    make('h1', {}, t('turn.title')),
    ...said(view),
    make('p', { class: 'turn-links' },
      message ? make('a', { href: `#/why/inbox/${message}` }, t(view.answer ? 'turn.why' : 'turn.why.failed')) : null,
      make('a', { href: `#/tape/${chat.chat}/at/${own.entry}` }, t('turn.tape'))),
    steps.length > 1 ? make('nav', { 'aria-label': t('turn.steps') }, make('ol', { class: 'steps' }, steps.map((step, i) => make('li', {},
      make('a', { href: `#/turn/${chat.chat}/${turn}/${i + 1}`, 'aria-current': i === at ? 'step' : null }, t('turn.step', i + 1)))))) : null,
    facts(own, tokens),
    bar(parts, tools, tokens, before),
    legend(tokens),
    make('p', { class: 'why-note' }, t(tokens.reported ? 'turn.shared' : 'turn.estimated', number(tokens.total))),
    make('p', { class: 'change' }, change(before), before && before.turn !== turn ? [' ', make('a', { href: `#/turn/${chat.chat}/${before.turn}` }, t('turn.before'))] : null),
    make('p', { class: 'why-note' }, view.exact ? t('turn.exact') : view.why, view.blanked ? ` ${t('turn.blanked', view.blanked)}` : ''),
    make('h2', { id: 'turn-parts' }, t('turn.parts')),
    view.left_out ? make('p', { class: 'why-note' }, t('turn.left', number(view.left_out))) : null,
    list,
    again,
  ].filter(Boolean);
}

export function fact(name, value) {
  return make('div', {}, make('dt', {}, name), make('dd', {}, value));
}

const counted = (value) => (value === null || value === undefined ? DASH : t('turn.tokens', number(value)));

function facts(step, tokens) {
  const share = tokens.reported && tokens.cached !== null ? ` (${Math.round((100 * (tokens.cached ?? 0)) / tokens.reported)} %)` : '';
  return make('dl', { class: 'facts' },
    fact(t('turn.model'), step.model || t('turn.none')), fact(t('turn.took'), took(step.elapsed_ms)),
    fact(t('turn.ended'), step.finish_reason || step.status),
    fact(t('turn.reported'), counted(tokens.reported)), fact(t('turn.cached'), counted(tokens.cached) + share), fact(t('turn.output'), counted(tokens.output)));
}

// What was asked, and what came of it: the first thing to know about a prompt.
function said({ question, recorded, answer, failed }) {
  const nothing = make('p', { class: failed ? 'why-note failed' : 'why-note' }, failed ? t('turn.failed', failed) : t('turn.no-answer'));
  const line = (what, who, text) => make('div', { class: `turn-said ${what}` }, make('p', { class: 'turn-what' }, t(`turn.${what}`), who ? [' · ', make('bdi', {}, who)] : null), make('p', { class: 'turn-text' }, text));
  return [
    ...(question.length ? question.map(({ name, text }) => line('asked', name, text)) : [make('p', { class: 'why-note' }, t(recorded ? 'turn.unshown' : 'turn.unrecorded'))]),
    answer ? line('answered', '', answer) : nothing,
  ];
}

const named = (tokens) => ['tools', ...ORIGINS].filter((origin) => tokens.origins[origin]).map((origin) => [origin, tokens.origins[origin]]);

// A length of tape for each part, in the order of the prompt; the line below is what the provider may have cached.
function bar(parts, tools, tokens, before) {
  const whole = Math.max(1, tokens.total);
  let x = 0;
  const lengths = [...(tools ? [tools] : []), ...parts].map((part) => {
    const width = (100 * part.tokens) / whole;
    const length = svg('rect', { class: 'token-part', 'data-origin': part.origin, x: x.toFixed(3), y: 0, width: Math.max(0.15, width).toFixed(3), height: 9 });
    x += width;
    return length;
  });
  const prefix = before ? (100 * (before.prefix_tokens + (tools?.tokens ?? 0))) / whole : 0;
  const label = named(tokens).map(([origin, count]) => `${t(`turn.${origin}`)} ${number(count)}`).join(', ');
  return svg('svg', { class: 'token-bar', viewBox: '0 0 100 12', preserveAspectRatio: 'none', role: 'img', 'aria-label': t('turn.bar', label) },
    lengths, prefix ? svg('rect', { class: 'token-prefix', x: 0, y: 10.4, width: Math.min(100, prefix).toFixed(3), height: 0.9 }) : null);
}

function legend(tokens) {
  return make('ul', { class: 'legend' }, named(tokens).map(([origin, count]) => make('li', { 'data-origin': origin },
    term(t(`turn.${origin}`), t(`turn.says.${origin}`)), make('b', {}, number(count)))));
}

const signed = (value) => `${value < 0 ? '−' : '+'}${number(Math.abs(value))}`;

function change(before) {
  if (!before) return t('turn.first');
  return before.unchanged
    ? t('turn.same', signed(before.tokens), number(before.prefix_tokens))
    : t('turn.changed', signed(before.tokens), number(before.prefix_tokens), number(before.gone));
}

function spliced(parts, chat, before) {
  const items = parts.map((part) => item(part, chat, before));
  const first = before ? parts.findIndex((part) => !part.same) : -1;
  if (first > 0) items.splice(first, 0, make('li', { class: 'splice' }, t('turn.splice')));
  return items;
}

function toolsItem(tools) {
  return make('li', { class: 'part', 'data-origin': 'tools' },
    make('p', { class: 'part-head' },
      make('span', { class: 'part-origin' }, t('turn.tools')), make('span', {}, tools.names.join(', ')),
      make('span', { class: 'part-tokens' }, t('turn.tokens', number(tools.tokens)))),
    make('details', { class: 'part-more' }, make('summary', {}, t('turn.tools.now')), make('pre', { class: 'part-text', tabindex: 0 }, tools.text),
      tools.more ? make('p', { class: 'why-note' }, t('turn.more', number(tools.more))) : null));
}

function item(part, chat, before) {
  const calls = part.calls.map(({ name, arguments: given }) => `${name} ${given}`).join('\n');
  const text = [part.text, calls && t('turn.calls', calls), part.images ? t('turn.images', part.images) : ''].filter(Boolean).join('\n');
  return make('li', { class: 'part', 'data-origin': part.origin, 'data-entry': part.entry, 'data-same': part.same },
    make('p', { class: 'part-head' },
      make('span', { class: 'part-origin' }, t(`turn.${part.origin}`)),
      make('span', {}, part.name ? `${part.role} · ${part.name}` : part.role),
      part.entry ? make('a', { href: `#/tape/${chat.chat}/at/${part.entry}` }, t('turn.entry', part.entry)) : null,
      before && !part.same ? make('span', { class: 'part-new' }, t('turn.new')) : null,
      make('span', { class: 'part-tokens' }, t('turn.tokens', number(part.tokens)))),
    make('pre', { class: 'part-text', tabindex: text.length > 360 || text.split('\n').length > 7 ? 0 : null }, text),
    part.more ? make('p', { class: 'why-note' }, t('turn.more', number(part.more))) : null);
}
