// Writes the tables of docs/guides/coming-from.md from the words that mycli suggests. `npm run docs:generate` runs it.
import {oldCommands, oldFlags, oldSettings} from '../dist/cli/setup/other-clients.js';
import {usualFlag, variableOf} from '../dist/settings/definitions.js';
import {fillFormatted} from './fill-page.js';

const code = (text) => `\`${text}\``;
const table = (head, rows) => `
| ${head.join(' | ')} |
| ${head.map(() => '---').join(' | ')} |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;

/** What a word is here, and what is different about it. */
function here(now, note) {
  if (note === undefined) return now;
  return now + (note.startsWith('or ') ? ', ' : '; ') + note.charAt(0).toLowerCase() + note.slice(1);
}

/** The other clients' settings: where they are, and what becomes of them. */
function settingRow({key, variables, field, becomes, standard, note}) {
  const flag = usualFlag(key);
  const variable = `\`${variableOf(key)}\``;
  const own = flag === undefined ? variable : `\`--${flag.name}\` (${variable})`;
  const formula = field && becomes && code(becomes(field === 'accountManagerHost' ? 'HOST' : field.toUpperCase()));
  const unset = standard && `${code(standard.value)} if it is not set`;
  const value = [formula, note, unset].filter((part) => part !== undefined).join('; ');
  return [variables.map(code).join(', '), field === undefined ? '' : code(field), own, value];
}

await fillFormatted('guides/coming-from.md', {
  commands: table(
    ['there', 'here'],
    oldCommands
      .filter(({client}) => client !== 'others')
      .map(({client, was, now, note}) => [
        code(`${client} ${was}`),
        here(now === 'help' ? 'no such command' : code(`mycli ${now}`), note),
      ]),
  ),
  settings: table(['variable', '`dw.json`, `b2c`', 'here', 'value'], oldSettings.map(settingRow)),
  flags: table(
    ['there', 'here', 'in'],
    oldFlags
      .filter(({client}) => client !== 'others')
      .map(({client, was, now, note}) => [code(was), here(code(now), note), client]),
  ),
});
