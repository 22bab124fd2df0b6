import {listOption, option} from './option.js';

const group = 'RATE LIMIT';

/** How requests are retried when the server limits their rate. */
export const rateLimitFlags = {
  'max-retries': option(group, 'max-retries', {helpValue: 'N', summary: 'Retries at most; default 3.'}),
  'retry-base-delay': option(group, 'retry-base-delay', {
    helpValue: 'MS',
    summary: 'First wait when the server names none, doubled each time; default 1000.',
  }),
  'retry-max-delay': option(group, 'retry-max-delay', {helpValue: 'MS', summary: 'Longest wait; default 30000.'}),
  'retry-status': listOption(group, 'retry-status', {
    helpValue: 'CODE',
    summary: 'HTTP status that is a rate limit; repeatable; default 429.',
  }),
};
