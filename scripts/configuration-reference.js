// Writes the tables of docs/reference/configuration.md from the settings. `npm run docs:generate` runs it.
import {definitions, flagSets, settingKeys, summaryOf, variableOf} from '../dist/cli/settings/definitions.js';
import {fillPage} from './fill-page.js';

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

fillPage('configuration.md', {settings: tables});
