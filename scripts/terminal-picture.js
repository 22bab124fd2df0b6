// Part of `npm run docs:generate`. Pushes the example storefront to the local runtime in a terminal, and draws what the
// terminal shows into docs/push.svg. Leaves the picture unchanged if only times and ports differ.
import {spawn, spawnSync} from 'node:child_process';
import {once} from 'node:events';
import {cp, mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import xterm from '@xterm/headless';

const root = path.resolve(import.meta.dirname, '..');
const picture = path.join(root, 'docs/push.svg');
const binary = path.join(root, 'bin/run.js');
const typed = 'mycli push --project shop --target staging --wait';
const size = {cols: 100, rows: 30};

/**
 * Runs the push, and returns its terminal output with all escape sequences. The terminal is script(1) of util-linux.
 */
async function push(folder) {
  await cp(path.join(root, 'examples/storefront'), folder, {recursive: true});
  const run = `"${process.execPath}" "${binary}"`;
  const inner = `cd "${folder}" && node build.mjs >build.log && stty cols ${size.cols} rows ${size.rows} && echo BEGIN && ${typed.replace('mycli', run)} --message "Winter sale" && echo END`;
  const command = `${run} runtime:start --quiet -- sh -c '${inner}'`;
  const env = {PATH: process.env.PATH, HOME: folder, TERM: 'xterm-256color', LANG: 'C.UTF-8'};
  const child = spawn('script', ['-qefc', command, '/dev/null'], {env, stdio: ['ignore', 'pipe', 'inherit']});
  const chunks = [];
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  const [code] = await once(child, 'close');
  const sent = Buffer.concat(chunks).toString();
  if (code !== 0) throw new Error(`The push failed:\n${sent}`);
  return sent.slice(sent.indexOf('BEGIN\r\n') + 7, sent.lastIndexOf('END'));
}

/** The rows of a terminal that received `text`, as runs of characters that look the same. */
async function screenOf(text) {
  const terminal = new xterm.Terminal({...size, allowProposedApi: true});
  await new Promise((resolve) => {
    terminal.write(text, resolve);
  });
  const buffer = terminal.buffer.active;
  return Array.from({length: buffer.baseY + buffer.cursorY}, (_, at) => runsOf(buffer.getLine(at)));
}

function runsOf(line) {
  const runs = [];
  for (let at = 0; at < line.length; at += 1) {
    const cell = line.getCell(at);
    const look = lookOf(cell);
    const last = runs.at(-1);
    if (last?.look === look) last.text += cell.getChars() || ' ';
    else runs.push({at, look, text: cell.getChars() || ' '});
  }
  return runs.map((run) => ({...run, text: run.text.trimEnd()})).filter(({text}) => text !== '');
}

/** The CSS classes of a cell, as defined in the picture's style. */
function lookOf(cell) {
  const classes = [cell.isDim() && 'dim', cell.isBold() && 'bold', !cell.isFgDefault() && `c${cell.getFgColor()}`];
  return classes.filter(Boolean).join(' ');
}

/** Dimensions in the picture, in its own units. */
const cell = {width: 8.4, height: 20};
const margin = {x: 20, y: 52};

function draw(rows) {
  const width = Math.round(size.cols * cell.width + 2 * margin.x);
  const height = Math.round((rows.length + 1) * cell.height + margin.y);
  const lines = rows.map((runs, row) => {
    const y = margin.y + row * cell.height;
    const parts = runs.map(({at, look, text}) => {
      const start = text.length - text.trimStart().length;
      const x = (margin.x + (at + start) * cell.width).toFixed(1);
      const shown = text.trimStart();
      const length = (shown.length * cell.width).toFixed(1);
      return `<tspan x="${x}" textLength="${length}"${look && ` class="${look}"`}>${escape(shown)}</tspan>`;
    });
    return `<text y="${y}" xml:space="preserve">${parts.join('')}</text>`;
  });
  const description = rows.map((runs) => runs.map(({text}) => text.trim()).join(' ')).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title description">
<title id="title">mycli in a terminal</title>
<desc id="description">${escape(description)}</desc>
<style>
  text { font: 14px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d6deeb; }
  .dim { fill: #7f8fa3; } .bold { font-weight: bold; }
  .c1 { fill: #ff6b81; } .c2 { fill: #5fd38d; } .c3 { fill: #e5c07b; } .c4 { fill: #82aaff; } .c6 { fill: #7fdbca; }
</style>
<rect width="${width}" height="${height}" rx="10" fill="#0f1722"/>
<circle cx="22" cy="20" r="6" fill="#ff5f56"/><circle cx="42" cy="20" r="6" fill="#ffbd2e"/><circle cx="62" cy="20" r="6" fill="#27c93f"/>
${lines.join('\n')}
</svg>
`;
}

function escape(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** Replaces what may differ from run to run. */
function settled(svg) {
  return svg
    .replaceAll(/\d+(?:\.\d+)? m?s\b/g, 'TIME')
    .replaceAll(/127\.0\.0\.1:\d+/g, 'ADDRESS')
    .replaceAll(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'DEPLOYMENT')
    .replaceAll(/ (?:x|textLength)="[\d.]+"/g, '');
}

if (!spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout?.includes('util-linux')) {
  console.warn('docs/push.svg is left as it is: script(1) of util-linux is missing.');
  process.exit();
}
const folder = await mkdtemp(path.join(tmpdir(), 'mycli-picture-'));
try {
  const prompt = [
    {at: 0, look: 'c2', text: '$'},
    {at: 2, look: 'bold', text: typed},
  ];
  const drawn = draw([prompt, ...(await screenOf(await push(path.join(folder, 'shop'))))]);
  const committed = await readFile(picture, 'utf8').catch(() => '');
  if (settled(drawn) !== settled(committed)) await writeFile(picture, drawn);
} finally {
  await rm(folder, {recursive: true, force: true});
}
