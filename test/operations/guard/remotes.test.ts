import {expect, test} from 'vitest';
import {remoteKey, shownRemote} from '../../../src/operations/guard/remotes.js';

test.each([
  'https://git.example/shop/site',
  'https://git.example/shop/site.git',
  'https://git.example:443/shop/site/',
  'https://token:x@GIT.example/shop/site.git',
  'ssh://git@git.example/shop/site.git',
  'ssh://git@git.example:22/shop/site',
  'git@git.example:shop/site.git',
  'git.example:/shop/site',
  'git+https://git.example/shop/site.git',
  'git.example/shop/site',
])('%s is the same repository', (url) => {
  expect(remoteKey(url)).toBe('git.example/shop/site');
  expect(shownRemote(url)).toMatch(/^(?:https|ssh):\/\/git\.example\/shop\/site$/);
});

test.each([
  'https://ann:canary@git.example/x',
  'https://ann:can@ary@git.example/x',
  'https://canary@git.example:8443/x?token=canary#canary',
  'ann:canary@git.example:x',
  'helper::https://ann:canary@git.example/x',
  'ext::curl -H canary https://git.example/x',
  'https://mirror.example/https://ann:canary@git.example/x',
  'mirror.example/https:/ann:canary@git.example/x',
])('%s is shown without credentials', (url) => {
  expect(shownRemote(url) ?? '').not.toContain('canary');
});

test.each([
  'https://git.example/shop/Site',
  'helper::https://git.example/shop/site',
  'https://git.example/shop',
  'https://git.example.evil/shop/site',
  'https://git.example:8443/shop/site',
  'https://evil.example/git.example/shop/site',
  'https://git.example@evil.example/shop/site',
  '/srv/git/shop/site.git',
])('%s is another repository', (url) => {
  expect(remoteKey(url)).not.toBe('git.example/shop/site');
});
