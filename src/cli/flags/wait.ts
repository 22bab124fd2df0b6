import {option, switchOption} from './option.js';

const group = 'WAITING';

/** Whether and how long to wait for a deployment. */
export const waitFlags = {
  wait: switchOption(group, 'wait', {char: 'w', summary: 'Wait until the deployment has ended.'}),
  'poll-interval': option(group, 'poll-interval', {
    helpValue: 'SECONDS',
    summary: 'Time between two looks at the deployment; default 5.',
  }),
  timeout: option(group, 'timeout', {helpValue: 'SECONDS', summary: 'Longest wait, 0 for no limit; default 600.'}),
};

/** What to do when another deployment to the target is running. */
export const waitForSlotFlag = {
  'wait-for-slot': switchOption(group, 'wait-for-slot', {
    summary: 'Wait until a deployment to the target that is running has ended, and deploy then; at most --timeout.',
  }),
};
