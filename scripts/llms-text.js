// Writes llms.txt (https://llmstxt.org), the contents of the documentation for agents, from its pages. `npm run docs:generate`
// runs it.
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';

const root = new URL('../', import.meta.url);
const {name, description} = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));

/** A link to a page, with the first sentence of its prose, or else what its parts are about. */
function entryOf(path) {
  const text = readFileSync(new URL(path, root), 'utf8');
  const prose = text
    .replaceAll(/^```.*?^```$|<!--.*?-->|^\|.*$|^- .*?(?=\n\n)/gms, '')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  const [title = '', first = ''] = prose
    .split(/\n\n+/)
    .map((part) => part.replaceAll(/\s+/g, ' ').trim())
    .filter(Boolean);
  const [sentence] = first.split(/(?<=[.:]) (?=[A-Z`])/);
  const about = first.startsWith('#')
    ? [...text.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading).join(', ')
    : sentence;
  return `- [${title.replace('# ', '')}](${path}): ${about.replace(/:$/, '.')}`;
}

const pagesIn = (folder) =>
  readdirSync(new URL(folder, root))
    .filter((file) => file.endsWith('.md'))
    .sort()
    .map((file) => entryOf(`${folder}/${file}`));

writeFileSync(
  new URL('llms.txt', root),
  [
    `# ${name}`,
    '',
    `> ${description}`,
    '',
    'What to run, in which order, and what never to do: [skills/mycli/SKILL.md](skills/mycli/SKILL.md).',
    '',
    '## Guides',
    '',
    ...pagesIn('docs/guides'),
    '',
    '## Reference',
    '',
    ...pagesIn('docs/reference'),
    '',
  ].join('\n'),
);
