import {describe, expect, test} from 'vitest';
import {renderEntry} from '../../../src/cli/output/log-entries.js';
import {renderChangedVariables} from '../../../src/cli/output/render-targets.js';
import {renderBundles, renderInspection, renderStatus} from '../../../src/cli/output/render-lists.js';
import {collectOutput} from '../collect-output.js';

describe('the contents of a bundle', () => {
  const known = {format: 'v2', size: 3072, sha256: 'ab', contentSha256: 'cd', problems: []} as const;
  const matches = {ssrOnly: [], ssrShared: []};

  test('have sizes with units and the words of a push', () => {
    const {output, texts} = collectOutput();
    const config = {ssrOnly: ['ssr.js'], ssrShared: ['static/**'], ssrParameters: {}};
    const files = [
      {path: 'ssr.js', size: 30, executable: false, category: 'ssrOnly'},
      {path: 'a.css', size: 2048, executable: false, category: 'static'},
    ] as const;
    renderInspection({...known, config, matches, files}, undefined, output);
    const {stdout, stderr} = texts();
    expect(stdout).toContain('size     3.07 kB\n');
    expect(stdout).toContain('CATEGORY     SIZE     PATH\nserver-only  30 B     ssr.js\nother        2.05 kB  a.css\n');
    expect(stderr).toBe('');
  });

  test('of a v1 archive are no problem: a remark says what is not known, and what would tell', () => {
    const {output, texts} = collectOutput();
    const files = [{path: 'ssr.js', size: 30, executable: false}];
    renderInspection({...known, format: 'v1', matches, files}, undefined, output);
    const {stdout, stderr} = texts();
    expect(stdout).not.toContain('Problem');
    expect(stderr).toBe(
      'A v1 archive does not say which of its files are server-only or shared. One pushed with --v2 does.\n',
    );
  });
});

test('an empty list of bundles says that the project may not exist, and where it was looked for', () => {
  const {output, texts} = collectOutput();
  renderBundles(
    {backend: 'legacy', projectSlug: 'nope', bundles: []},
    {names: undefined, place: ['origin  https://api.example  (--origin)']},
    output,
  );
  expect(texts()).toEqual({
    stdout: '',
    stderr: 'The project nope has no bundles, or does not exist.\n  origin  https://api.example  (--origin)\n',
  });
});

test('the status of a target tells its state until it is ready', () => {
  const {output, texts} = collectOutput();
  const targets = [
    {targetSlug: 'qa', state: 'creating'},
    {targetSlug: 'staging', state: 'ready'},
  ] as const;
  renderStatus({backend: 'api', projectSlug: 'shop', targets}, output);
  expect(texts().stdout).toBe('qa\n  State: creating\n  Nothing is live.\n\nstaging\n  Nothing is live.\n');
});

test.each([
  ['trace', '\u001B[2m'],
  ['DEBUG', '\u001B[2m'],
  ['info', ''],
  ['Warning', '\u001B[33m'],
  ['error', '\u001B[31m'],
  ['CRITICAL', '\u001B[31m'],
  ['verbose', ''],
  [undefined, ''],
])('log entries of level %s have its color on a terminal, on each of their lines, and nowhere else', (level, color) => {
  const shown = (colors: {readonly color: boolean; readonly colorsResults: boolean}) => {
    const {output, texts} = collectOutput(colors);
    renderEntry({level, message: 'first\nsecond'}, output);
    return texts().stdout.trimEnd().split('\n');
  };
  const plain = shown({color: true, colorsResults: false});
  expect(plain.join('\n')).not.toContain('\u001B');
  const end = color === '\u001B[2m' ? '\u001B[22m' : '\u001B[39m';
  const colored = plain.map((line) => (color === '' ? line : color + line + end));
  expect(shown({color: false, colorsResults: true})).toEqual(colored);
});

test.each([
  ['legacy', 'The target was published again.'],
  ['acme', 'qa is ready.'],
])('variables that were waited for: what is known of the target is told (%s)', (backend, line) => {
  const {output, texts} = collectOutput();
  const place = {backend, projectSlug: 'shop', targetSlug: 'qa', dryRun: false, warnings: []};
  renderChangedVariables({...place, set: ['A'], unset: []}, {waited: true}, output);
  expect(texts().stdout).toContain(line);
});
