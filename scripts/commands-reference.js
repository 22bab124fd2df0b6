// Writes the lists and tables of docs/reference/commands.md from the manifest of the commands. Settings are on the page
// about configuration. `npm run docs:generate` runs it.
import {readFileSync} from 'node:fs';
import {isOclifCommand} from '../dist/cli/command/command-line.js';
import {fillPage} from './fill-page.js';

const {commands} = JSON.parse(readFileSync(new URL('../oclif.manifest.json', import.meta.url), 'utf8'));

const cell = (text = '') => text.replaceAll('|', '\\|');
const code = (text) => `\`${cell(text)}\``;

function usage({id, args}) {
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

function table(args, flags) {
  const rows = [
    ...args.map(({name, description}) => `| ${code(name.toUpperCase())} | ${cell(description)} |`),
    ...flags.map(flagRow),
  ];
  return rows.length === 0 ? '' : `| | |\n| --- | --- |\n${rows.join('\n')}`;
}

function settingsLine(flags) {
  return flags.length === 0
    ? ''
    : `[Settings](configuration.md): ${flags.map((flag) => code(flagName(flag))).join(', ')}`;
}

function section(command) {
  const {id, summary, description, aliases, args, flags, examples} = command;
  const shown = Object.values(flags);
  const lines = examples.map((line) =>
    line.replaceAll('<%= config.bin %>', 'mycli').replaceAll('<%= command.id %>', id),
  );
  const short = aliases.map((alias) => ` Short: ${code(`mycli ${alias}`)}.`).join('');
  const parts = [
    `## ${id}`,
    `${summary} ${description}${short}`,
    `\`\`\`sh\n${[usage(command), '', ...lines].join('\n')}\n\`\`\``,
    table(
      Object.values(args),
      shown.filter(({helpGroup}) => helpGroup === undefined),
    ),
    settingsLine(shown.filter(({helpGroup = 'GLOBAL'}) => helpGroup !== 'GLOBAL')),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

const all = Object.values(commands).filter(({id}) => !isOclifCommand(id));
const global = Object.values(all[0].flags).filter(({helpGroup}) => helpGroup === 'GLOBAL');

fillPage('commands.md', {
  list: all.map(({id, summary}) => `- [\`${id}\`](#${id.replace(':', '')}): ${summary}`).join('\n'),
  'global-flags': `
${table([], global)}
| \`-h\` | Show the main flags of the command and two examples. |
| \`--help\` | Show the complete help of the command. |
| \`-v, --version\` | Show the version of mycli. After a command, only \`--version\` works. |`,
  commands: all.map(section).join('\n\n'),
});
