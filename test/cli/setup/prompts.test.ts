import {readFile, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {PassThrough} from 'node:stream';
import {stripVTControlCharacters} from 'node:util';
import {afterEach, describe, expect, test, vi} from 'vitest';
import {makeFolder} from '../../folder.js';
import {sanitize} from '../../../src/cli/output/terminal.js';
import {
  askChoice,
  askText,
  confirm,
  openBrowser,
  readSecretInput,
  deletionConsent,
} from '../../../src/cli/setup/prompts.js';
import {createError} from '../../../src/errors/index.js';

/** A terminal with a user who types `keys` at the first question. */
function terminal(keys: string, {signal = new AbortController().signal} = {}) {
  // Like the terminal of a process, it is never closed.
  const stream = Object.assign(new PassThrough({encoding: 'utf8'}), {_isStdio: true});
  const stdin = Object.assign(new PassThrough(), {isTTY: true});
  let text = '';
  stream.on('data', (chunk: string) => {
    if (text === '') setImmediate(() => stdin.write(keys));
    text += chunk;
  });
  return {
    context: {
      output: {interactive: true, stream, unicode: true, clean: sanitize, info: () => undefined},
      stdin,
      signal,
    },
    /** What is left on the screen, without cursor movements. */
    shown: () => stripVTControlCharacters(text),
  };
}

afterEach(() => void vi.unstubAllEnvs());

test.runIf(process.platform === 'linux')('a browser gets the URL and no secrets', async () => {
  const folder = await makeFolder();
  const [browser, seen] = [join(folder, 'mycli-browser'), join(folder, 'seen')];
  await writeFile(browser, `#!/bin/sh\ncd '${folder}' && env > part && echo "$1" >> part && mv part seen\n`, {
    mode: 0o755,
  });
  // By its name: xdg-open takes a blank and a % in BROWSER for its own.
  const named = {BROWSER: 'mycli-browser', PATH: `${folder}:${process.env['PATH'] ?? ''}`};
  // A browser that is installed would go first.
  const nowhere = {HOME: folder, XDG_DATA_DIRS: folder, XDG_CONFIG_DIRS: folder};
  for (const [name, value] of Object.entries({...named, DISPLAY: ':1', GITHUB_TOKEN: 'canary', ...nowhere}))
    vi.stubEnv(name, value);
  expect(await openBrowser('https://shop.example/', process.env)).toBe(true);
  await expect.poll(() => readFile(seen, 'utf8').catch(() => '')).toContain('https://shop.example/');
  expect(await readFile(seen, 'utf8')).not.toContain('canary');
  expect(process.env['GITHUB_TOKEN']).toBe('canary');
});

describe('a question', () => {
  test.each(['y\n', 'YES\r', ' yes \n'])('question: %j is yes', async (keys) => {
    const {context, shown} = terminal(keys);
    await confirm('Delete \u001B[2Jit?', 'Cancelled.', context);
    expect(shown()).toContain('? Delete it? (y/N)');
  });

  test.each(['n\n', '\n'])('question: %j is no', async (keys) => {
    const {context} = terminal(keys);
    const asked = confirm('Delete it?', 'Cancelled.', context);
    await expect(asked).rejects.toMatchObject({code: 'ERR_USAGE', exitCode: 2, message: 'Cancelled.'});
  });

  test('question: what is invalid can be corrected', async () => {
    const {context, shown} = terminal('a/b\n');
    const check = (answer: string) => {
      if (answer.includes('/')) throw createError('ERR_OPTION_INVALID', 'No slash, please.');
    };
    const answer = askText({text: 'Slug', check}, context);
    await expect.poll(shown).toContain('> No slash, please.');
    context.stdin.write('\u007F\u007F-c\n');
    expect(await answer).toBe('a-c');
  });

  test('question: a choice is made with the arrows', async () => {
    const choices = [
      {name: 'First', value: 'first'},
      {name: 'Second', value: 'second'},
    ] as const;
    expect(await askChoice('Which?', choices, terminal('\u001B[B\n').context)).toBe('second');
  });

  test.each([
    ['Ctrl-C', '\u0003', 'ERR_INTERRUPTED', 130],
    ['Ctrl-D', '\u0004', 'ERR_USAGE', 2],
  ])('question: %s ends it', async (_key, keys, code, exitCode) => {
    await expect(askText({text: 'Name'}, terminal(keys).context)).rejects.toMatchObject({code, exitCode});
    await expect(readSecretInput('API key', terminal(keys).context)).rejects.toMatchObject({code, exitCode});
  });

  test('question: an abort ends it with its reason', async () => {
    const controller = new AbortController();
    const {context} = terminal('', {signal: controller.signal});
    const asked = confirm('Delete it?', 'Cancelled.', context);
    controller.abort(new Error('enough'));
    await expect(asked).rejects.toThrow('enough');
  });
});

test('secret: corrections count, and nothing is shown', async () => {
  const {context, shown} = terminal('canary-x\u007Fy\r');
  expect(await readSecretInput('API key', context)).toBe('canary-y');
  expect(shown()).toContain('? API key:');
  expect(shown()).not.toMatch(/canary|\*/);
});

test('secret: is asked for again after an empty line, unless that is an answer', async () => {
  const {context} = terminal('\r');
  let told: string | undefined;
  const typeAgain = (chunk: string) => {
    if (!chunk.includes('API key:')) return;
    context.output.stream.off('data', typeAgain);
    setImmediate(() => context.stdin.write('canary-z\r'));
  };
  const info = (line: unknown) => {
    told = String(line);
    context.output.stream.on('data', typeAgain);
  };
  expect(await readSecretInput('API key', {...context, output: {...context.output, info}})).toBe('canary-z');
  expect(told).toBe('This cannot be empty.');
  expect(await readSecretInput('API key', terminal('\r').context, undefined, true)).toBe('');
});

describe('consent', () => {
  const {context} = terminal('');

  test('consent: is there with --yes, and can be asked for in a terminal', () => {
    const elsewhere = {...context, output: {...context.output, interactive: false}};
    expect(deletionConsent(true, 'bundles', elsewhere)).toBeTypeOf('function');
    expect(deletionConsent(false, 'bundles', context)).toBeTypeOf('function');
  });

  test.each([
    {...context, output: {...context.output, interactive: false}},
    {...context, stdin: new PassThrough()},
  ])('consent: is missing otherwise, once there is something to ask', async (elsewhere) => {
    const consent = deletionConsent(false, 'bundles', elsewhere);
    await expect(consent('Delete bundle 3?')).rejects.toMatchObject({
      code: 'ERR_USAGE',
      suggestions: [expect.stringContaining('--yes') as string],
    });
  });
});
