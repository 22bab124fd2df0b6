import {Script} from 'node:vm';
import {onTestFinished, vi} from 'vitest';

/** Until the end of the test, what matches for ever is ended after a hundredth of its time. */
export function shortenTimeLimit(): void {
  const {runInContext} = Script.prototype;
  const spy = vi.spyOn(Script.prototype, 'runInContext').mockImplementation(function (this: Script, context, options) {
    const {timeout = Number.NaN} = typeof options === 'object' ? options : {};
    return runInContext.call(this, context, {timeout: Math.ceil(timeout / 100)});
  });
  onTestFinished(() => {
    spy.mockRestore();
  });
}
