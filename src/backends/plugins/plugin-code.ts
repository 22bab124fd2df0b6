import {AsyncLocalStorage} from 'node:async_hooks';

/** The plugin whose code is running, also in what that code starts and does not wait for. */
export const runningPlugin = new AsyncLocalStorage<string>();
