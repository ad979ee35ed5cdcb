// Why: the way of one message drawn as a pipe, from its channel to its receipt.

import { get } from '../api.js';
import { make, odometer, svg, term } from '../dom.js';
import { follow, toChats, toTape } from '../screen.js';
import { addWords, money, number, t } from '../words.js';
import { DASH, clock, day, inLocalTime, took } from './durations.js';

addWords({
  en: {
    'why.title': 'Why', 'why.of': 'The way of message {0}', 'why.way': 'Its way, step by step', 'why.conversation': 'Conversation', 'why.beginning': 'Its beginning', 'why.cost': 'Cost of the answer', 'why.tokens': '{0} token|{0} tokens', 'why.find': 'Other messages', 'why.story': 'The whole story',
    'why.tape': 'On its tape', 'why.view': 'What the model was shown', 'why.total': 'from the inbox to the receipt',
    'why.private': 'A private chat: that you opened it is on record.', 'why.no-text': 'Its text is not shown: it was refused, deleted or erased.',
    'why.channel': 'Channel', 'why.inbox': 'Inbox', 'why.on-tape': 'Tape', 'why.lane': 'Conversation', 'why.model': 'Model', 'why.tools': 'Tools', 'why.outbox': 'Outbox', 'why.receipt': 'Receipt',
    'why.ok': 'passed', 'why.slow': 'slow', 'why.failed': 'failed', 'why.open': 'here now', 'why.ended': 'ends here', 'why.unused': 'not reached', 'why.spared': 'not needed',
    'why.arrived': 'arrived', 'why.written': 'written', 'why.waited': 'waited', 'why.first text': 'first text', 'why.ran': 'ran', 'why.ready': 'whole answer', 'why.queued': 'queued', 'why.confirmed': 'confirmed', 'why.turn': 'the whole turn',
    'about.lane': 'conversation', 'about.anchor': 'checkpoint',
    'why.is.done': 'Answered.', 'why.is.timed': 'Answered, {0} after it came.', 'why.is.command': 'Answered without the model, as a command.', 'why.is.waiting': 'It waits for its turn.', 'why.is.accepted': 'Received, and not on its tape yet.',
    'why.is.taken': 'It is being answered.', 'why.is.taped': 'Heard, not addressed: {0}', 'why.is.refused': 'Not let in: {0}', 'why.is.unanswered': 'Not answered: {0}', 'why.is.failed': 'The answer failed: {0}', 'why.is.stopped': 'Stopped. {0}',
    'why.is.dead': 'Given up: {0}', 'why.is.dropped': 'Dropped, not answered. {0}', 'why.is.held': 'Held since a restore.', 'why.is.joined': 'Part of another message, and answered there.', 'why.is.erased': 'Erased: only its ids and dates are left.',
    'why.says.channel': 'The platform on which it was written.', 'why.says.inbox': 'The gateway has received and stored it.', 'why.says.tape': 'It is in the record of its chat, which the agent reads.', 'why.says.lane': 'It was put to one of the conversations in the chat, and waited for its turn there.',
    'why.says.model': 'A model wrote the answer.', 'why.says.tools': 'What the model looked up or ran for it.', 'why.says.outbox': 'The answer is stored, to be sent.', 'why.says.receipt': 'The platform has confirmed that it has the answer.',
    'why.answered': 'Answered', 'why.nothing': 'nothing was sent', 'why.kept': 'stored', 'why.one': 'the chat is one conversation',
    'why.says.sent': 'What is sent to the chat is stored first.', 'why.says.confirmed': 'The platform has confirmed that it has the notice.',
    'why.sent.failed': 'a notice that it failed', 'why.sent.stopped': 'a notice that it was stopped', 'why.sent.dead': 'a notice that no answer will come', 'why.sent.refusal': 'a notice that the chat was not open', 'why.sent.full': 'a notice that too many questions wait', 'why.sent.stale': 'a notice that it was too old', 'why.sent.poison': 'a notice that it could not be read', 'why.sent.other': 'a notice',
    'why.unknown': 'no reason is recorded',
    'why.said to the group': 'it was said to the group, without a mention of the agent, a reply to it, or its name.',
    'why.said to the channel': 'it was said to the channel, without a mention of the agent, a reply to it, or its name.',
    'why.said to the room': 'it was said to the room.', 'why.forwarded': 'it was forwarded from elsewhere.',
    'why.a mention of somebody else': 'it begins with the name of somebody else.',
  },
  zh: {
    'why.title': '原因', 'why.of': '消息 {0} 的路径', 'why.way': '逐步路径', 'why.conversation': '对话', 'why.beginning': '对话开头', 'why.cost': '回答的费用', 'why.tokens': '{0} 个词元', 'why.find': '其他消息', 'why.story': '完整经过',
    'why.tape': '在磁带上查看', 'why.view': '模型看到的内容', 'why.total': '从收件到回执',
    'why.private': '私聊：您的打开已被记录。', 'why.no-text': '内容不予显示：已被拒绝、删除或抹除。',
    'why.channel': '渠道', 'why.inbox': '收件箱', 'why.on-tape': '磁带', 'why.lane': '对话', 'why.model': '模型', 'why.tools': '工具', 'why.outbox': '发件箱', 'why.receipt': '回执',
    'why.ok': '已通过', 'why.slow': '较慢', 'why.failed': '失败', 'why.open': '正在此处', 'why.ended': '止于此', 'why.unused': '未到达', 'why.spared': '不需要',
    'why.arrived': '到达', 'why.written': '写入', 'why.waited': '等待', 'why.first text': '首段文字', 'why.ran': '运行', 'why.ready': '完整回答', 'why.queued': '排队', 'why.confirmed': '确认', 'why.turn': '整个轮次',
    'about.asked': '查询', 'about.seen': '收到', 'about.addressed': '对象', 'about.access': '权限', 'about.lane': '对话', 'about.changed': '更改', 'about.turn': '轮次', 'about.view': '视图', 'about.model': '模型', 'about.tool': '工具', 'about.said': '回答', 'about.error': '错误', 'about.draft': '草稿', 'about.send': '发送', 'about.receipt': '回执', 'about.times': '用时', 'about.outcome': '结果', 'about.anchor': '检查点', 'about.event': '事件',
    'why.is.done': '已回答。', 'why.is.timed': '已回答，收到后 {0}。', 'why.is.command': '作为命令回答，未使用模型。', 'why.is.waiting': '正在等待处理。', 'why.is.accepted': '已收到，尚未写入磁带。',
    'why.is.taken': '正在回答。', 'why.is.taped': '已听到，但不是对助手说的：{0}', 'why.is.refused': '未获准：{0}', 'why.is.unanswered': '未回答：{0}', 'why.is.failed': '回答失败：{0}', 'why.is.stopped': '已停止。{0}',
    'why.is.dead': '已放弃：{0}', 'why.is.dropped': '已丢弃，未回答。{0}', 'why.is.held': '恢复备份后保留。', 'why.is.joined': '属于另一条消息，已在那里回答。', 'why.is.erased': '已抹除：仅保留编号和日期。',
    'why.says.channel': '写下它的平台。', 'why.says.inbox': '网关已收到并保存它。', 'why.says.tape': '它已写入该聊天的记录，助手会读取。', 'why.says.lane': '它被归入聊天中的一个对话，并在那里等待处理。',
    'why.says.model': '模型写出回答。', 'why.says.tools': '模型为此查找或运行的内容。', 'why.says.outbox': '回答已保存，等待发送。', 'why.says.receipt': '平台已确认收到回答。',
    'why.answered': '回答', 'why.nothing': '没有发送任何内容', 'why.kept': '已保存', 'why.one': '整个聊天是一个对话',
    'why.says.sent': '发往聊天的内容先被保存。', 'why.says.confirmed': '平台已确认收到通知。',
    'why.sent.failed': '一条说明回答失败的通知', 'why.sent.stopped': '一条说明已停止的通知', 'why.sent.dead': '一条说明不会有回答的通知', 'why.sent.refusal': '一条说明聊天当时未开放的通知', 'why.sent.full': '一条说明等待的问题太多的通知', 'why.sent.stale': '一条说明问题太旧的通知', 'why.sent.poison': '一条说明无法读取的通知', 'why.sent.other': '一条通知',
    'why.unknown': '没有记录原因',
    'why.said to the group': '它是对群组说的，没有提及助手、没有回复助手，也没有叫助手的名字。',
    'why.said to the channel': '它是对频道说的，没有提及助手、没有回复助手，也没有叫助手的名字。',
    'why.said to the room': '它是对房间说的。', 'why.forwarded': '它是从别处转发的。',
    'why.a mention of somebody else': '它以别人的名字开头。',
  },
});

const MARKS = { ok: 'M5 10.5l3.5 3.5 6.5-8', slow: 'M10 5v5.5l3.5 2', failed: 'M6 6l8 8M14 6l-8 8', open: 'M10 6.5v4M10 13.6v.1', ended: 'M5.5 10h9', unused: '' };

export const title = () => t('why.title');

export function mount(root, params) {
  const section = make('section', { class: 'column why', 'aria-busy': 'true' }, make('h1', {}, t('why.title')), make('p', { class: 'empty' }, t('loading')));
  root.append(section);
  let { chat, id } = params;
  let shown = '';

  async function path(signal) {
    id ??= (await get(`chats/${chat}/entries/${params.entry}/why`, { signal })).id;
    return `why/${id}`;
  }

  function show(report) {
    chat = report.chat?.chat;
    section.removeAttribute('aria-busy');
    // What is said in the chat meanwhile takes nobody's focus or selection away.
    const now = JSON.stringify({ ...report, chat: { ...report.chat, heard: '' } });
    if (now === shown) return;
    shown = now;
    section.replaceChildren(...draw(report));
  }

  function refuse({ message }) {
    shown = '';
    section.removeAttribute('aria-busy');
    section.replaceChildren(make('h1', {}, t('why.title')), make('p', { class: 'empty', role: 'alert' }, message), chat ? toTape(chat, params.entry) : toChats());
  }

  return follow({ path, draw: show, refuse, topics: ['chat'], heeds: (changed) => !changed?.chat || changed.chat === chat }).end;
}

function draw({ place, chat, joints, lines, lane, used, answer, reasons }) {
  const links = [
    chat && place.entry ? make('a', { href: `#/tape/${chat.chat}/at/${place.entry}` }, t('why.tape')) : null,
    chat && place.turn ? make('a', { href: `#/turn/${chat.chat}/${place.turn}` }, t('why.view')) : null,
    chat ? make('a', { href: `#/why/in/${chat.chat}` }, t('why.find')) : null,
  ];
  return [
    make('p', { class: 'why-where' }, chat ? make('bdi', {}, chat.title) : place.account, ' · ', day(place.received_at), ' · ', clock(place.received_at)),
    make('h1', {}, t('why.of', /^\S{1,16}$/.test(place.message_id) ? place.message_id : `in-${place.row}`)),
    chat?.private ? make('p', { class: 'why-note' }, t('why.private')) : null,
    label(place),
    answer ? make('div', { class: 'turn-said answered' }, make('p', { class: 'turn-what' }, t('why.answered')), make('p', { class: 'turn-text' }, answer)) : null,
    make('p', { class: 'verdict', 'data-condition': worst(joints) }, mark(worst(joints)), make('span', {}, verdict(place, joints, lines, reasons))),
    facts(chat, lines, used),
    make('p', { class: 'why-links' }, links),
    make('h2', { id: 'why-way' }, t('why.way')),
    make('ol', { class: 'pipe', 'aria-labelledby': 'why-way' }, joints.map((one, i) => joint(one, place, lines, joints.slice(i + 1).some((later) => later.condition !== 'unused'), lane, reasons))),
    summed(joints),
    make('h2', { id: 'why-story' }, t('why.story')),
    make('ol', { class: 'story', 'aria-labelledby': 'why-story' }, lines.filter(isOfTheStory).map((line) => make('li', {},
      make('span', { class: 'story-at' }, line.at ? clock(line.at) : ''),
      make('span', { class: 'story-about' }, known('about', line.about)),
      make('span', { class: 'story-says' }, inLocalTime(line.says, line.data.conversation?.moments, line.at))))),
  ].filter(Boolean);
}

function label(place) {
  if (!place.text) return make('p', { class: 'why-note' }, t('why.no-text'));
  return make('blockquote', { class: 'said' }, make('bdi', { class: 'who' }, place.name || ''), make('q', {}, place.text));
}

// What most people ask next: which conversation it belongs to, and what the answer cost.
function facts(chat, lines, used) {
  const fact = (name, ...value) => make('div', {}, make('dt', {}, t(`why.${name}`)), make('dd', {}, value));
  const line = lines.find((one) => one.data.conversation);
  const { says, moments, first } = line?.data.conversation ?? {};
  return !used && !line ? null : make('dl', { class: 'facts' },
    line ? fact('conversation', `${inLocalTime(says, moments, line.at)}${t('stop')}`, ...(chat && first ? [' ', make('a', { href: `#/tape/${chat.chat}/at/${first}` }, t('why.beginning'))] : [])) : null,
    used ? fact('cost', money(used.cost, used.unpriced), ` (${t('why.tokens', number(used.tokens))})`) : null);
}

const ORDER = ['failed', 'open', 'ended', 'slow', 'ok'];
const worst = (joints) => ORDER.find((one) => joints.some((joint) => joint.condition === one)) ?? 'unused';

// The sentence that most people come for.
function verdict(place, joints, lines, reasons) {
  if (place.erased) return t('why.is.erased');
  const of = (about) => lines.find((line) => line.about === about)?.data ?? {};
  const bad = joints.find((joint) => joint.condition === 'ended' || joint.condition === 'failed');
  if (place.status === 'done') {
    const passed = total(joints);
    const done = passed === DASH ? t('why.is.done') : t('why.is.timed', passed);
    const said = place.turn ? done : t('why.is.command');
    return bad ? `${said} ${t(`why.${NAME[bad.name] ?? bad.name}`)}: ${bad.says}` : said;
  }
  const failed = lines.find((line) => line.about === 'error')?.says;
  const { was } = of('access');  // missing if it was let in first, and not answered for another reason
  const why = { taped: reason(of('addressed').why, reasons.addressed), refused: was, failed };
  const is = place.status === 'refused' && !was ? 'unanswered' : place.status;
  return t(`why.is.${is}`, why[place.status] || place.why || bad?.says || t('why.unknown'));
}

// A word of the gateway in the page's language, if the page knows it.
function known(prefix, text) {
  const found = t(`${prefix}.${text}`);
  return found === `${prefix}.${text}` ? text : found;
}

// A recorded reason: in the page's own sentence, or as the gateway says it.
const reason = (text, says) => {
  const found = t(`why.${text}`);
  return found === `why.${text}` ? says : found;
};

const NAME = { tape: 'on-tape' };

function mark(condition) {
  return svg('svg', { class: 'mark', viewBox: '0 0 20 20', 'aria-hidden': 'true' },
    svg('circle', { class: 'mark-ground', cx: 10, cy: 10, r: 9 }), svg('path', { class: 'mark-sign', d: MARKS[condition] }));
}

// A command for a terminal says nothing here: the page has a link for it.
const isOfTheStory = (line) => line.at || line.about !== 'view';

const UNANSWERED = new Set(['failed', 'stopped', 'dead', 'refused', 'dropped', 'taped']);

// What went out in the place of an answer, by what the turn or the notice is; '' for an answer.
function sentFor({ status, turn }, lines) {
  if (!UNANSWERED.has(status)) return '';
  const keys = lines.filter(({ about }) => about === 'send').map(({ data }) => /^n-([a-z]+):/.exec(data.idem ?? '')?.[1]);
  const known = `why.sent.${turn ? status : keys.at(-1)}`;
  return t(known) === known ? 'why.sent.other' : known;
}

function joint({ name, condition, at, spans, says }, place, lines, passed, lane, reasons) {
  const called = name === 'lane' && place.turn && (lane ? `${lane.who}: ${lane.text}` : place.lane ? ' ' : t('why.one'));
  const unasked = name === 'lane' && place.status === 'taped' && lines.find((line) => line.about === 'addressed')?.data.why;
  const sent = (name === 'outbox' || name === 'receipt') && sentFor(place, lines);
  const went = sent && (condition === 'ok' || condition === 'slow');
  const stands = went && name === 'outbox' ? 'why.kept'
    : sent && condition === 'unused' && name === 'outbox' ? 'why.nothing'
      : condition === 'unused' && passed ? 'why.spared' : `why.${condition}`;
  return make('li', { class: 'joint', 'data-condition': condition, 'data-joint': name },
    mark(condition),
    make('h3', {}, term(t(`why.${NAME[name] ?? name}`), t(sent ? `why.says.${name === 'outbox' ? 'sent' : 'confirmed'}` : `why.says.${name}`))),
    make('p', { class: 'joint-condition' }, t(stands)),
    make('p', { class: 'joint-at' }, condition === 'unused' || name === 'tools' ? '' : clock(at)),
    make('dl', { class: 'joint-spans' }, spans.filter(({ what }) => !(sent && what === 'ready')).map(({ what, ms }) => make('div', {},
      make('dt', {}, t(`why.${what}`)), make('dd', {}, took(ms))))),
    make('p', { class: 'joint-says', title: says }, unasked ? reason(unasked, reasons.addressed) : went ? t(sent) : called || says));
}

// How long it took from the inbox to the receipt, in words, or a dash.
function total(joints) {
  const at = (name) => Date.parse(joints.find((joint) => joint.name === name)?.at ?? '');
  const passed = at('receipt') - at('inbox');
  return Number.isNaN(passed) || passed < 0 ? DASH : took(passed);
}

function summed(joints) {
  const shown = total(joints);
  return shown === DASH ? null : make('p', { class: 'why-total' }, odometer(shown, `${shown} ${t('why.total')}`), make('span', { 'aria-hidden': 'true' }, ` ${t('why.total')}`));
}
