// The entries around the play head as a list: what the tape says there, in words.

import { disc, make } from '../dom.js';
import { addWords, t, when } from '../words.js';
import { hueOf } from './strip.js';
import { moment, seconds, titleOf } from './draw.js';

const AROUND = 14;
const ASKED = new Set(['error', 'end', 'notice']); // to what a question leads, in its turn
const LISTED = new Set(['said', 'answer', 'chapter', 'refused', 'edit', 'delete', 'reaction', 'tool', 'error', 'notice']);

addWords({
  en: {
    'tape.title': 'Tape', 'tape.map': 'Place on the tape', 'tape.entries': 'Entries at the play head', 'tape.size': '{0} entry|{0} entries',
    'tape.date': 'Go to a date', 'tape.go': 'Go', 'tape.search': 'Search this tape', 'tape.find': 'Search', 'tape.hits': 'Found on this tape', 'tape.none': 'Nothing on this tape says that.',
    'tape.keys': 'j and k: next and previous entry · [ and ]: chapters · /: search · + and −: zoom', 'tape.empty': 'Nothing is on this tape yet.',
    'tape.strip': 'The tape around the play head, drawn: conversations as tracks, turns as blocks, messages as dots.',
    'tape.quiet.minutes': '{0} min quiet', 'tape.quiet.hours': '{0} h quiet', 'tape.quiet.days': '{0} day quiet|{0} days quiet',
    'tape.cut.start': 'Start', 'tape.cut.reset': 'Started over', 'tape.cut.rewind': 'Went back', 'tape.cut.checkpoint': 'Checkpoint',
    'tape.agent': 'Agent', 'tape.gone': 'This message was deleted.', 'tape.refused': 'Refused', 'tape.edit': 'A message was edited.', 'tape.delete': 'A message was deleted.', 'tape.reaction.up': 'Somebody found an answer good.', 'tape.reaction.down': 'Somebody found an answer bad.', 'tape.reaction.': 'Somebody took back what they thought of an answer.',
    'tape.tool': 'Called {0}', 'tape.error': 'An error', 'tape.failed': 'This turn ended without an answer ({0}).',
    'tape.error.why': 'An error: {0}', 'tape.failed.why': 'This turn ended without an answer: {0}', 'tape.refused.message': 'A message was not let in: {0}', 'tape.refused.dropped': 'A message was dropped: {0}', 'tape.refused.call': 'Not allowed: {0} was not run',
    'tape.is.turn': 'The agent began to work.', 'tape.is.end': 'The agent ended its work.', 'tape.is.out': 'A message was stored, to be sent to the chat.', 'tape.is.receipt': 'The platform confirmed that it has a message.', 'tape.is.erase': 'Entries of this tape were erased.', 'tape.is.erased': 'What stood here was erased.', 'tape.is.other': 'A record of the gateway, for itself.',
    'tape.beside': 'Entry {0} is not on this tape, or not shown. This is what stands beside it.',
    'tape.notice': 'A notice was sent to the chat.', 'tape.notice.sent': 'Notice to the chat:',
    'tape.why': 'Why', 'tape.turn': 'What the model was shown', 'tape.link': 'Link', 'tape.chapter': 'Chapter: {0}', 'tape.markdown': 'Markdown', 'tape.html': 'HTML', 'tape.replay': 'Replay from here', 'tape.replay.chapter': 'Replay this chapter',
    'tape.legend': 'What is drawn', 'tape.legend.lane': 'each colour is a conversation', 'tape.legend.said': 'a message', 'tape.legend.answer': 'an answer', 'tape.legend.turn': 'the agent works', 'tape.legend.notch': 'refused, failed or changed',
    'tape.legend.density': 'how much was written', 'tape.legend.answers': 'answers among it', 'tape.legend.failed': 'failed or refused', 'tape.legend.chapters': 'a chapter begins', 'tape.legend.head': 'you are here',
    'tape.what': 'Everything that happened in this chat, in order. Between two entries, time is drawn in proportion for up to 45 seconds; longer pauses are shortened.', 'tape.counted': 'All that is recorded, also what the list leaves out: where turns begin and end, and receipts.',
    'tape.lanes': 'Conversations drawn here', 'tape.unit': 'entries',
    'tape.counting': 'The overview is still being counted: {0} of {1}.', 'tape.newest': 'Newest', 'tape.back': 'Previous chapter', 'tape.on': 'Next chapter',
    'tape.share': 'Show by a link', 'tape.keys.read': 'j and k: next and previous entry · [ and ]: chapters · + and −: zoom',
  },
  zh: {
    'tape.title': '磁带', 'tape.map': '磁带上的位置', 'tape.entries': '播放头处的记录', 'tape.size': '{0} 条记录',
    'tape.date': '跳到日期', 'tape.go': '前往', 'tape.search': '搜索此磁带', 'tape.find': '搜索', 'tape.hits': '在此磁带上找到', 'tape.none': '此磁带上没有这些内容。',
    'tape.keys': 'j、k：下一条、上一条 · [、]：章节 · /：搜索 · +、−：缩放', 'tape.empty': '此磁带上还没有内容。',
    'tape.strip': '播放头附近的磁带图：对话为轨道，轮次为方块，消息为圆点。',
    'tape.quiet.minutes': '安静 {0} 分钟', 'tape.quiet.hours': '安静 {0} 小时', 'tape.quiet.days': '安静 {0} 天',
    'tape.cut.start': '开始', 'tape.cut.reset': '重新开始', 'tape.cut.rewind': '返回', 'tape.cut.checkpoint': '检查点',
    'tape.agent': '助手', 'tape.gone': '此消息已删除。', 'tape.refused': '已拒绝', 'tape.edit': '一条消息被编辑。', 'tape.delete': '一条消息被删除。', 'tape.reaction.up': '有人认为一个回答不错。', 'tape.reaction.down': '有人认为一个回答不好。', 'tape.reaction.': '有人撤回了对一个回答的评价。',
    'tape.tool': '调用 {0}', 'tape.error': '错误', 'tape.failed': '此轮次没有得到回答（{0}）。',
    'tape.error.why': '错误：{0}', 'tape.failed.why': '此轮次没有得到回答：{0}', 'tape.refused.message': '一条消息未获准：{0}', 'tape.refused.dropped': '一条消息被丢弃：{0}', 'tape.refused.call': '未获允许：{0} 没有运行',
    'tape.is.turn': '助手开始工作。', 'tape.is.end': '助手结束工作。', 'tape.is.out': '一条消息已保存，等待发往聊天。', 'tape.is.receipt': '平台已确认收到一条消息。', 'tape.is.erase': '此磁带上的记录已被抹除。', 'tape.is.erased': '此处的内容已被抹除。', 'tape.is.other': '网关自用的一条记录。',
    'tape.beside': '记录 {0} 不在此磁带上或不予显示。以下是它旁边的内容。',
    'tape.notice': '已向聊天发送一条通知。', 'tape.notice.sent': '发给聊天的通知：',
    'tape.why': '原因', 'tape.turn': '模型看到的内容', 'tape.link': '链接', 'tape.chapter': '章节：{0}', 'tape.markdown': 'Markdown', 'tape.html': 'HTML', 'tape.replay': '从此处回放', 'tape.replay.chapter': '回放本章',
    'tape.legend': '图例', 'tape.legend.lane': '每种颜色是一个对话', 'tape.legend.said': '消息', 'tape.legend.answer': '回答', 'tape.legend.turn': '助手在工作', 'tape.legend.notch': '被拒、失败或更改',
    'tape.legend.density': '写了多少', 'tape.legend.answers': '其中的回答', 'tape.legend.failed': '失败或被拒', 'tape.legend.chapters': '一章开始', 'tape.legend.head': '当前位置',
    'tape.what': '此聊天中发生的一切，按顺序排列。两条记录之间 45 秒以内的时间按比例绘制，更长的停顿会缩短。', 'tape.counted': '记录在案的一切，包括列表略去的内容：轮次的开始与结束，以及回执。',
    'tape.lanes': '此处显示的对话', 'tape.unit': '条记录',
    'tape.counting': '概览仍在统计：{0} / {1}。', 'tape.newest': '最新', 'tape.back': '上一章', 'tape.on': '下一章',
    'tape.share': '用链接展示', 'tape.keys.read': 'j、k：下一条、上一条 · [、]：章节 · +、−：缩放',
  },
});

export const isListed = (row) => LISTED.has(row.kind) || (row.kind === 'end' && (row.status === 'failed' || row.status === 'dead'));

// Return the listed rows around an index, and the one there, oldest first.
function around(strip, index) {
  const found = isListed(strip.rows[index]) ? [] : [strip.rows[index]]; // a link leads to it
  for (let i = index, left = AROUND; i >= 0 && left; i--) if (isListed(strip.rows[i])) { found.unshift(strip.rows[i]); left--; }
  for (let i = index + 1, left = AROUND; i < strip.rows.length && left; i++) if (isListed(strip.rows[i])) { found.push(strip.rows[i]); left--; }
  return found;
}

export class Entries {
  element = make('ol', { class: 'entries', 'aria-label': t('tape.entries') });
  #chat;
  #base;
  #shown = new Map(); // id -> item, so that what stays is not made again

  // `base` is the screen that its links lead to; only `tape` leads on to others.
  constructor(chat, base) {
    this.#chat = chat;
    this.#base = base;
  }

  show(strip, selected) {
    const index = Math.min(strip.rows.length - 1, strip.indexOf(selected));
    const rows = index < 0 ? [] : around(strip, index);
    const next = new Map();
    for (const row of rows) {
      const kept = this.#shown.get(row.id);
      next.set(row.id, kept?.row === row ? kept : { row, item: this.#item(row) });
    }
    const items = [...next.values()].map(({ item }) => item);
    if (items.length !== this.element.children.length || items.some((item, i) => this.element.children[i] !== item)) this.element.replaceChildren(...items);
    for (const [id, { item }] of next) {
      if (id === selected) item.setAttribute('aria-current', 'true');
      else item.removeAttribute('aria-current');
    }
    this.#shown = next;
    const current = next.get(selected)?.item;
    if (current) this.element.scrollTop = current.offsetTop - (this.element.clientHeight - current.offsetHeight) / 2;
  }

  #item(row) {
    const lane = row.on ?? row.lane;
    const leads = this.#base === 'tape';
    return make('li', { class: `entry ${row.kind} ${lane ? `hue-${hueOf(lane)}` : ''}`, 'data-id': row.id },
      make('a', { class: 'entry-when', href: `#/${this.#base}/${this.#chat}/at/${row.id}`, title: moment(row) }, make('time', { datetime: row.at }, seconds(row))),
      make('p', { class: 'entry-text' }, ...words(row)),
      make('p', { class: 'entry-links' },
        leads && (row.inbox || row.kind === 'answer' || (row.turn && ASKED.has(row.kind))) ? make('a', { href: `#/why/entry/${this.#chat}/${row.id}` }, t('tape.why')) : null,
        leads && row.turn ? make('a', { href: `#/turn/${this.#chat}/${encodeURIComponent(row.turn)}` }, t('tape.turn')) : null));
  }
}

export function words(row) {
  if (row.kind === 'chapter') return [make('strong', { class: 'entry-chapter' }, titleOf(row))];
  if (row.kind === 'tool') return [make('span', { class: 'entry-note' }, t('tape.tool', row.text ?? ''))];
  if (row.kind === 'reaction') return [make('span', { class: 'entry-note' }, t(`tape.reaction.${row.value ?? ''}`))];
  if (row.kind === 'notice') return row.sent ? [make('span', { class: 'entry-note' }, t('tape.notice.sent')), ' ', make('bdi', {}, row.sent)] : [make('span', { class: 'entry-note' }, t('tape.notice'))];
  if (!isListed(row)) return [make('span', { class: 'entry-note' }, t(`tape.is.${row.kind}`))];
  if (lost(row)) return [make('span', { class: 'entry-lost' }, lost(row))];
  if (row.kind !== 'said' && row.kind !== 'answer') return [make('span', { class: 'entry-note' }, t(`tape.${row.kind}`))];
  const who = row.kind === 'answer' ? make('b', {}, t('tape.agent')) : make('b', {}, disc(row.who), make('bdi', {}, row.who));
  const text = row.gone ? make('i', { class: 'entry-note' }, t('tape.gone')) : make('bdi', { class: row.kind === 'answer' ? 'entry-answer' : '' }, row.text);
  return [who, ' ', text];
}

// What was refused or failed, with the recorded reason where there is one.
function lost({ kind, status, value, text, why }) {
  if (kind === 'end') return why ? t('tape.failed.why', why) : t('tape.failed', status);
  if (kind === 'error') return why ? t('tape.error.why', why) : t('tape.error');
  if (kind !== 'refused') return '';
  const said = value === 'call' ? text : why;
  return said ? t(`tape.refused.${value}`, said) : t('tape.refused');
}

export { when };
