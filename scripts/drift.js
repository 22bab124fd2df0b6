// Fails when a generated file that is committed is not the one that this source generates. Staged changes pass.
import {execFileSync} from 'node:child_process';

const generated = [
  'oclif.manifest.json',
  'action.yml',
  'llms.txt',
  'src/config.ts',
  'docs',
  ':(glob)test/**/__snapshots__/**',
];

const status = execFileSync('git', ['status', '--porcelain', '--untracked-files=all', '--', ...generated], {
  encoding: 'utf8',
});
const drifted = status.split('\n').filter((line) => line !== '' && line[1] !== ' ');
if (drifted.length > 0) {
  console.error(`Generated files differ from what is committed:\n${drifted.join('\n')}\nLook at them and commit them.`);
  execFileSync('git', ['--no-pager', 'diff', '--stat', '--', ...generated], {stdio: 'inherit'});
  process.exitCode = 1;
}
