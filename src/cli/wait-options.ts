import type {WaitOptions} from '../operations/options.js';
import type {Settings} from './settings/settings.js';

/** What the settings say about waiting for a deployment, in the names of the operations. */
export function waitOptions({wait, pollInterval, timeout}: Settings): WaitOptions & {readonly wait: boolean} {
  return {wait: wait.value, pollInterval: pollInterval.value, timeout: timeout.value};
}
