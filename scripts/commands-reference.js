// Writes the lists and tables of docs/reference/commands.md from the manifest of the commands and the names of the
// settings. `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {isOclifCommand} from '../dist/cli/process/oclif-commands.js';
import {definitions} from '../dist/cli/settings/definitions.js';
import {fillPage} from './fill-page.js';

const {commands} = JSON.parse(readFileSync(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));
const configKeyOf = Object.fromEntries(Object.values(definitions).map(({flag, config}) => [flag?.name, config]));

const cell = (text = '') => text.replaceAll('|', '\\|');
const code = (text) => (text === undefined ? '' : `\`${cell(text)}\``);

function usages({id, aliases, args}) {
  return [id, ...aliases].map((name) => usage(name, args)).join('\n');
}

function usage(id, args) {
  const names = Object.values(args).map(({name, required, multiple}) => {
    const shown = `${name.toUpperCase()}${multiple ? '...' : ''}`;
    return required ? shown : `[${shown}]`;
  });
  return ['mycli', id, ...names, '[FLAGS]'].join(' ');
}

function flagRow({
  name,
  char,
  type,
  options,
  helpValue = options?.join('|') ?? 'VALUE',
  multiple,
  allowNo,
  env,
  summary,
  default: standard,
}) {
  const value = type === 'option' ? ` ${helpValue}${multiple ? '...' : ''}` : '';
  const flag = `${char === undefined ? '' : `-${char}, `}--${allowNo ? '[no-]' : ''}${name}${value}`;
  const defaults = standard === undefined || standard === false ? '' : ` Default ${code(String(standard))}.`;
  return `| ${code(flag)} | ${code(env)} | ${code(configKeyOf[name])} | ${cell(summary)}${defaults} |`;
}

function flagTable([group, flags]) {
  return `### ${group === 'CI' ? group : group[0] + group.slice(1).toLowerCase()} flags

| flag | variable | config key | |
| --- | --- | --- | --- |
${flags.map(flagRow).join('\n')}
`;
}

function section(command) {
  const {id, summary, description, args, flags, examples} = command;
  const own = Object.values(flags).filter(({helpGroup}) => helpGroup !== 'GLOBAL');
  const groups = [...new Set(own.map(({helpGroup}) => helpGroup))].map((group) => [
    group,
    own.filter(({helpGroup}) => helpGroup === group),
  ]);
  const listed = Object.values(args).map(({name, description: text}) => `- \`${name.toUpperCase()}\`: ${text}\n\n`);
  return `## ${id}

${summary}

\`\`\`sh
${usages(command)}
\`\`\`

${description}

${listed.join('')}### Examples

\`\`\`sh
${examples.map((example) => example.replaceAll('<%= config.bin %>', 'mycli').replaceAll('<%= command.id %>', id)).join('\n')}
\`\`\`

${groups.map(flagTable).join('\n')}`;
}

const all = Object.values(commands).filter(({id}) => !isOclifCommand(id));
const global = Object.values(all[0].flags).filter(({helpGroup}) => helpGroup === 'GLOBAL');

fillPage('commands.md', {
  list: all.map(({id, summary}) => `- [\`${id}\`](#${id.replace(':', '')}): ${summary}`).join('\n'),
  'global-flags': `
| flag | variable | config key | |
| --- | --- | --- | --- |
${global.map(flagRow).join('\n')}
| \`-h\` | | | Show the main flags of the command and two examples. |
| \`--help\` | | | Show the complete help of the command. |
| \`-v, --version\` | | | Show the version of mycli. |`,
  commands: all.map(section).join('\n'),
});
