// node scripts/pictures.js: makes the pictures of the README from a real run: starts a local runtime, pushes the example
// storefront with the real binary, and draws what the terminal shows (SVG) and the page of the runtime in
// Chromium.
import {execFile, spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdir, mkdtemp, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {createInterface} from 'node:readline';
import {promisify, stripVTControlCharacters} from 'node:util';
import {chromium} from 'playwright-core';

const root = path.resolve(import.meta.dirname, '..');
const storefront = path.join(root, 'examples/storefront');
const binary = path.join(root, 'bin/run.js');
const pictures = path.join(root, 'docs/pictures');
const run = promisify(execFile);
// npm sets it: mycli would tell readers to type `npx mycli`.
const {npm_command: _, ...surroundings} = process.env;

const releases = [
  {target: 'production', message: 'main: 3f2c1a9 Show prices with tax'},
  {target: 'staging', message: 'main: 77b0d41 Add the logo'},
  {target: 'preview-17', message: 'cart: 1c9e0b2 Keep the cart for a week'},
];

/** What a push writes to its log, line by line. */
async function push({target, message}, env) {
  const flags = ['-p', 'shop', '-t', target, '-m', message, '--wait'];
  const {stdout, stderr} = await run(process.execPath, [binary, 'push', '-C', storefront, ...flags], {
    env: {...env, MYCLI_POLL_INTERVAL: '1'},
  });
  return stripVTControlCharacters(`${stderr}${stdout}`).trimEnd().split('\n');
}

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

/** A terminal with these lines, in the colors of whoever looks at it. */
function terminal(lines) {
  const [width, height] = [820, 46 + 22 * lines.length];
  const rows = lines.map((line, at) => {
    const kind = at === 0 ? 'prompt' : line.startsWith(' ') ? 'detail' : 'line';
    return `<text class="${kind}" x="20" y="${40 + 22 * at}" xml:space="preserve">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>A push in a terminal</title>
<style>
rect { fill: #f4f5f7; stroke: #d0d7de; }
text { font: 14px ui-monospace, Menlo, Consolas, monospace; fill: #1c2128; }
.prompt { font-weight: bold; }
.detail { fill: #57606a; }
@media (prefers-color-scheme: dark) {
  rect { fill: #1f252c; stroke: #3a434d; }
  text { fill: #e6edf3; }
  .detail { fill: #9ba7b4; }
}
</style>
<rect x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="10"/>
${rows.join('\n')}
</svg>
`;
}

async function takePages(origin) {
  const browser = await chromium.launch({executablePath: '/usr/bin/chromium', args: ['--no-sandbox']});
  try {
    const page = await browser.newPage({viewport: {width: 1000, height: 560}});
    await page.goto(origin);
    await page.screenshot({path: path.join(pictures, 'runtime.png')});
  } finally {
    await browser.close();
  }
}

const scratch = await mkdtemp(path.join(tmpdir(), 'mycli-pictures-'));
await mkdir(pictures, {recursive: true});
await run(process.execPath, [path.join(storefront, 'build.mjs')]);
const args = ['runtime:start', '--json', '--port', '0', '--data', path.join(scratch, 'runtime')];
const runtime = spawn(process.execPath, [binary, ...args], {env: surroundings, stdio: ['ignore', 'pipe', 'inherit']});
const ended = once(runtime, 'exit');
try {
  const [line] = await Promise.race([once(createInterface({input: runtime.stdout}), 'line'), ended.then(() => ['{}'])]);
  const {origin, credentials} = JSON.parse(line);
  if (origin === undefined) throw new Error('runtime:start ended before it was ready');
  const own = {MYCLI_RUNTIME_ORIGIN: origin, MYCLI_API_KEY: credentials.apiKey, XDG_DATA_HOME: scratch, NO_COLOR: '1'};
  const env = {...surroundings, ...own};
  for (const release of releases) {
    const lines = await push(release, env);
    const typed = `$ mycli push -p shop -t ${release.target} --wait`;
    if (release === releases[0]) await writeFile(path.join(pictures, 'push.svg'), terminal([typed, ...lines]));
  }
  await takePages(origin);
} finally {
  runtime.kill('SIGTERM');
  await ended;
  await rm(scratch, {recursive: true, force: true});
}
