// Writes the tables of docs/reference/configuration.md from the settings, between two marks; the prose is written there.
// `npm run docs:generate` runs it.
import {readFile, writeFile} from 'node:fs/promises';
import {definitions, flagSets, settingKeys, summaryOf, variableOf} from '../dist/cli/settings/definitions.js';

const cell = (text) => text.replaceAll('|', '\\|');
const code = (text) => (text === undefined ? '' : `\`${cell(text)}\``);

function row(key) {
  const {flag, config, kind} = definitions[key];
  const value = flag?.value ?? kind.options?.join('|');
  const shown =
    flag &&
    `${flag.char === undefined ? '' : `-${flag.char}, `}--${flag.name}${value === undefined ? '' : ` ${value}`}`;
  return `| ${code(shown)} | ${code(variableOf(key))} | ${code(config)} | ${cell(summaryOf(key))} |`;
}

function table(heading) {
  const keys = settingKeys.filter((key) => flagSets[definitions[key].set] === heading);
  return `## ${heading[0]}${heading.slice(1).toLowerCase()}

| flag | variable | config key | |
| --- | --- | --- | --- |
${keys.map(row).join('\n')}
`;
}
const tables = [...new Set(Object.values(flagSets))].map(table).join('\n');

const page = new URL('../docs/reference/configuration.md', import.meta.url);
const [begin, end] = ['<!-- begin: written by scripts/configuration-reference.js -->\n', '<!-- end -->\n'];
const prose = (await readFile(page, 'utf8')).split(new RegExp(`(?<=${begin})[^]*(?=${end})`));
if (prose.length !== 2) throw new Error(`${page.pathname} has no place for the tables.`);
await writeFile(page, prose.join(`\n${tables}\n`));
