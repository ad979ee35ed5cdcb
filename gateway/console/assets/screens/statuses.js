// How messages and sends stand, as lamps.

import { lamp } from '../dom.js';
import { addWords, t } from '../words.js';

addWords({
  en: {
    'status.done': 'answered', 'status.taped': 'not addressed', 'status.refused': 'not let in', 'status.stopped': 'stopped', 'status.dropped': 'dropped', 'status.joined': 'part of another',
    'status.failed': 'failed', 'status.dead': 'given up', 'status.ambiguous': 'maybe sent', 'status.accepted': 'just heard',
    'status.waiting': 'waiting', 'status.taken': 'being answered', 'status.pending': 'to be sent', 'status.sending': 'being sent', 'status.held': 'held',
  },
  zh: {
    'status.done': '已回答', 'status.taped': '不是对助手说的', 'status.refused': '未获准', 'status.stopped': '已停止', 'status.dropped': '已丢弃', 'status.joined': '属于另一条消息',
    'status.failed': '失败', 'status.dead': '已放弃', 'status.ambiguous': '可能已发送', 'status.accepted': '刚收到',
    'status.waiting': '等待', 'status.taken': '正在回答', 'status.pending': '待发送', 'status.sending': '正在发送', 'status.held': '保留',
  },
});

const KINDS = { failed: 'bad', dead: 'bad', refused: 'bad', ambiguous: 'warn', held: 'warn', waiting: 'warn', accepted: 'warn', pending: 'warn', taken: 'good', sending: 'good', done: 'good' };

export const statusLamp = (status) => lamp(KINDS[status] ?? '', t(`status.${status}`));
