// Writes the lists and tables of docs/reference/commands.md from the manifest of the commands. Settings are on the page
// about configuration. `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {isOclifCommand} from '../dist/cli/command/oclif-commands.js';
import {fillPage} from './fill-page.js';

const {commands} = JSON.parse(readFileSync(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const cell = (text = '') => text.replaceAll('|', '\\|');
const code = (text) => `\`${cell(text)}\``;

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

const flagName = ({name, char}) => `${char === undefined ? '' : `-${char}, `}--${name}`;

function flagRow({name, char, type, options, helpValue, multiple, allowNo, summary, default: standard}) {
  const value = type === 'option' ? ` ${helpValue ?? options?.join('|') ?? 'VALUE'}${multiple ? '...' : ''}` : '';
  const flag = flagName({char, name: `${allowNo ? '[no-]' : ''}${name}`});
  const defaults = standard === undefined || standard === false ? '' : ` Default ${code(String(standard))}.`;
  return `| ${code(`${flag}${value}`)} | ${cell(summary)}${defaults} |`;
}

function flagTable(flags) {
  return flags.length === 0 ? '' : `| flag | |\n| --- | --- |\n${flags.map(flagRow).join('\n')}\n\n`;
}

/** The settings with a heading of the page about configuration. */
function settingsLine([heading, flags]) {
  const title = `${heading[0]}${heading.slice(1).toLowerCase()}`;
  return `- [${title}](configuration.md#${heading.toLowerCase()}): ${flags.map((flag) => code(flagName(flag))).join(', ')}`;
}

function section(command) {
  const {id, summary, description, args, flags, examples} = command;
  const shown = Object.values(flags).filter(({hidden}) => hidden !== true);
  const groups = new Set(shown.flatMap(({helpGroup = 'GLOBAL'}) => (helpGroup === 'GLOBAL' ? [] : [helpGroup])));
  const settings = [...groups].map((group) => [group, shown.filter(({helpGroup}) => helpGroup === group)]);
  const listed = Object.values(args).map(({name, description: text}) => `- \`${name.toUpperCase()}\`: ${text}\n\n`);
  return `## ${id}

${summary} ${description}

\`\`\`sh
${usages(command)}
\`\`\`

${listed.join('')}${flagTable(shown.filter(({helpGroup}) => helpGroup === undefined))}${settings.map(settingsLine).join('\n')}

\`\`\`sh
${examples.map((example) => example.replaceAll('<%= config.bin %>', 'mycli').replaceAll('<%= command.id %>', id)).join('\n')}
\`\`\`
`;
}

const all = Object.values(commands).filter(({id}) => !isOclifCommand(id));
const global = Object.values(all[0].flags).filter(({helpGroup}) => helpGroup === 'GLOBAL');

fillPage('commands.md', {
  list: all.map(({id, summary}) => `- [\`${id}\`](#${id.replace(':', '')}): ${summary}`).join('\n'),
  'global-flags': `
${flagTable(global).trimEnd()}
| \`-h\` | Show the main flags of the command and two examples. |
| \`--help\` | Show the complete help of the command. |
| \`-v, --version\` | Show the version of mycli. |`,
  commands: all.map(section).join('\n'),
});
