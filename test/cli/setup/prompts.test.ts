import {PassThrough} from 'node:stream';
import {describe, expect, test} from 'vitest';
import {confirm, requireConsent} from '../../../src/cli/setup/prompts.js';
import {sanitize} from '../../../src/cli/output/sanitize.js';

function terminal({terminal = true, isTTY = true} = {}) {
  const stream = new PassThrough();
  const stdin = Object.assign(new PassThrough(), {isTTY});
  return {output: {terminal, stream, clean: sanitize}, stdin};
}

describe('a question', () => {
  test.each(['y\n', 'YES\n', ' yes \n'])('is answered yes by %j', async (answer) => {
    const context = terminal();
    const asked = confirm('Delete \u001B[2Jit?', 'Cancelled.', {...context, signal: new AbortController().signal});
    context.stdin.write(answer);
    await asked;
    expect(String(context.output.stream.read())).toBe('Delete it? [y/N] ');
  });

  test.each(['n\n', '\n', 'yesterday\n', ''])('is answered no by %j', async (answer) => {
    const context = terminal();
    const asked = confirm('Delete it?', 'Cancelled.', {...context, signal: new AbortController().signal});
    context.stdin.end(answer);
    await expect(asked).rejects.toMatchObject({code: 'ERR_USAGE', exitCode: 2, message: 'Cancelled.'});
  });

  test('ends with the reason of an abort', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const context = terminal();
    context.output.stream.once('data', () => setImmediate(() => controller.abort(reason)));
    const asked = confirm('Delete it?', 'Cancelled.', {...context, signal: controller.signal});
    await expect(asked).rejects.toBe(reason);
  });
});

describe('consent', () => {
  test('is there with --yes, and can be asked for in a terminal', () => {
    requireConsent('Deleting', true, terminal({terminal: false, isTTY: false}));
    requireConsent('Deleting', false, terminal());
  });

  test.each([{terminal: false}, {isTTY: false}])('is missing otherwise (%j)', (how) => {
    expect(() => {
      requireConsent('Deleting', false, terminal(how));
    }).toThrow(expect.objectContaining({code: 'ERR_USAGE', suggestions: [expect.stringContaining('--yes')]}));
  });
});
