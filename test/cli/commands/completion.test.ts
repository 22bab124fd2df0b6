import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {mkdir, mkdtemp, rm, symlink} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {delimiter, join} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import {binary, runCli} from '../spawn-cli.js';

const bashCompletion = '/usr/share/bash-completion/bash_completion';
const hasBash = existsSync(bashCompletion);
// Elsewhere zsh may ask whether its folders are safe.
const hasZsh = process.platform === 'linux' && spawnSync('zsh', ['--version']).status === 0;

let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'mycli-completion-'));
  await mkdir(join(home, 'bin'));
  await symlink(binary, join(home, 'bin/mycli'));
  const built = await runCli(binary, ['autocomplete', '--refresh-cache'], {env: {HOME: home}});
  expect(built.code).toBe(0);
});
afterAll(() => rm(home, {recursive: true, force: true}));

/** Runs a script in a shell of a user who has set nothing, and gives the lines that it prints. */
function shell(name: 'bash' | 'zsh', args: readonly string[]): readonly string[] {
  const path = [join(home, 'bin'), process.env['PATH']].join(delimiter);
  const env = {HOME: home, PATH: path, TERM: 'dumb'};
  const {stdout, stderr} = spawnSync(name, args, {env, encoding: 'utf8', timeout: 200_000});
  expect(stderr).toBe('');
  return stdout.trim().split(/\s*\n/);
}

// As bash calls it: a colon breaks words, and what is offered replaces the last of them.
const bashScript = `
. ${bashCompletion}
eval "$(mycli autocomplete:script bash)"
COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
COMP_LINE="$*" COMP_POINT=\${#COMP_LINE}
COMP_WORDS=(\${COMP_LINE//:/ : }) COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
_mycli_autocomplete
printf '%s\\n' "\${COMPREPLY[@]}"
`;

describe.skipIf(!hasBash)('completion in bash', () => {
  test.each([
    ['mycli bundle:d', ['delete', 'deploy', 'download']],
    ['mycli conf', ['config:show']],
    ['mycli bundle:push --arch', ['--archive']],
    [
      'mycli auth:logout --',
      ['--json', '--cwd', '--config', '--debug', '--quiet', '--origin', '--api-origin', '--all'],
    ],
  ])('of "%s" offers %j', (line, offered) => {
    expect(shell('bash', ['--norc', '-c', bashScript, 'bash', ...line.split(' ')])).toEqual(offered);
  });
});

// A shell at a terminal of its own, in which Control-X tells what stands in the line. The markers are written so that
// the echo of the commands does not contain them.
const zshScript = `
zmodload zsh/zpty
zpty inner zsh -f -i
zpty -w inner "PS1=REA''DY; unsetopt prompt_cr; eval \\"\\$(mycli autocomplete:script zsh)\\""
zpty -w inner 'tell() { print -r -- LI""NE"[$BUFFER]" }; zle -N tell; bindkey "^X" tell; print -r -- SET''UP'
zpty -r inner output '*SETUP*READY*'
zpty -n -w inner "$*"$'\\t\\x18'
zpty -r inner output '*LINE\\[*\\]*'
zpty -d inner
print -r -- \${\${output##*LINE\\[}%%\\]*}
`;

describe.skipIf(!hasZsh)('completion in zsh', () => {
  test.each([
    ['mycli bundle:pu', 'mycli bundle:push'],
    ['mycli conf', 'mycli config:show'],
    ['mycli bundle:push --arch', 'mycli bundle:push --archive='],
  ])('of "%s" makes it "%s"', (line, completed) => {
    expect(shell('zsh', ['-f', '-c', zshScript, 'zsh', ...line.split(' ')])).toEqual([completed]);
  });
});
