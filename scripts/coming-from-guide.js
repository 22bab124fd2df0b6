// Writes the tables of docs/guides/coming-from.md from the words that mycli suggests. `npm run docs:generate` runs it.
import {oldCommands, oldFlags} from '../dist/cli/command/old-words.js';
import {fillFormatted} from './fill-page.js';

const code = (text) => `\`${text}\``;
const table = (head, rows) => `
| ${head.join(' | ')} |
| ${head.map(() => '---').join(' | ')} |
${rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n')}`;

await fillFormatted('guides/coming-from.md', {
  commands: table(
    ['there', 'here', ''],
    oldCommands.map(({client, was, now, note = ''}) => [code(`${client} ${was}`), code(`mycli ${now}`), note]),
  ),
  flags: table(
    ['there', 'here', 'in', ''],
    oldFlags.map(({client, was, now, note = ''}) => [code(was), code(now), client, note]),
  ),
});
