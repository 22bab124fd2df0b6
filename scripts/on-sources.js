// `node scripts/on-sources.js PROGRAM ARGS...`: runs oxlint or oxfmt on the sources. Both leave out what git ignores, also by the
// rules of a repository that a copy without .git lies in: there, they get the names of the files.
import {spawnSync} from 'node:child_process';
import {existsSync, readdirSync} from 'node:fs';
import {join} from 'node:path';

const [program, ...args] = process.argv.slice(2);
const notOurs = /^(?:node_modules|dist|coverage|build)$/;
/** Named files are linted whatever is to be ignored. */
const notLinted =
  program === 'oxlint' ? ['test/fixtures', 'examples/mycli-plugin-mcp', 'examples/mycli-plugin-s3'] : [];
const kinds = program === 'oxlint' ? /\.[cm]?[jt]s$/ : /\.(?:[cm]?[jt]s|json|md|ya?ml|css|html)$/;

function filesIn(folder) {
  return readdirSync(folder, {withFileTypes: true}).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return notOurs.test(entry.name) || notLinted.includes(path) ? [] : filesIn(path);
    return kinds.test(entry.name) ? [path] : [];
  });
}

const files = existsSync('.git') ? [] : filesIn('.');
// npm's programs are scripts on Windows, which only a shell starts.
const {status} = spawnSync(program, [...args, ...files], {stdio: 'inherit', shell: process.platform === 'win32'});
process.exitCode = status ?? 1;
