import {existsSync} from 'node:fs';
import {readFile} from 'node:fs/promises';
import path from 'node:path';
import {expect, test} from 'vitest';
import {root, run} from '../package/install.js';

/** The anchors of the headings of a page, as GitHub makes them. */
function anchorsOf(page: string): readonly string[] {
  const headings = [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading);
  return headings.map((heading) => {
    const text = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    return text.replaceAll(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-');
  });
}

test('every link of a published page leads to a published file, and to a heading of it', async () => {
  const {stdout} = await run('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {cwd: root});
  const [packed] = JSON.parse(stdout) as [{files: readonly {readonly path: string}[]}];
  const published = packed.files.map((file) => file.path);
  const pages = published.filter((file) => file.endsWith('.md'));
  const texts = new Map<string, string>();
  for (const page of pages) texts.set(page, await readFile(path.join(root, page), 'utf8'));

  const broken: string[] = [];
  for (const [page, text] of texts) {
    for (const [, link = ''] of text.matchAll(/\]\(([^()\s]+)\)/g)) {
      const [, ofRepository] = /^https:\/\/github\.com\/your-organization\/mycli\/\w+\/main\/(.*)$/.exec(link) ?? [];
      if (ofRepository !== undefined && !existsSync(path.join(root, ofRepository))) broken.push(`${page}: ${link}`);
      if (/^https?:/.test(link)) continue;
      const [file = '', anchor] = link.split('#');
      const target = file === '' ? page : path.join(path.dirname(page), file);
      const isThere = published.some((one) => one === target || one.startsWith(`${target}/`));
      const hasAnchor = anchor === undefined || anchorsOf(texts.get(target) ?? '').includes(anchor);
      if (!isThere || !hasAnchor) broken.push(`${page}: ${link}`);
    }
  }
  expect(pages).toContain('docs/guides/write-a-backend-plugin.md');
  expect(broken).toEqual([]);
});
