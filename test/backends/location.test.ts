import {createHash} from 'node:crypto';
import {describe, expect, test} from 'vitest';
import {backendLocation} from '../../src/backends/configuration.js';
import {BearerTokenStrategy} from '../../src/http/auth/strategies.js';

const acme = {name: 'acme', secrets: ['token']};
const optionsOf = (backendOptions: Readonly<Record<string, unknown>>) => backendLocation(acme, {backendOptions}, {});

describe('the location of a backend', () => {
  test('is the address of a built-in one, however it is written', () => {
    const auth = new BearerTokenStrategy('canary');
    const apiConnection = {origin: 'Api.example/', organizationId: 'org', auth};
    const api = backendLocation({name: 'api'}, {apiConnection, origin: 'https://runtime.example'}, {});
    expect(api).toEqual({backend: 'api', origin: 'https://api.example', organizationId: 'org'});
    const legacy = {backend: 'legacy', origin: 'https://runtime.example'};
    expect(backendLocation({name: 'legacy'}, {origin: 'https://runtime.example/'}, {})).toEqual(legacy);
    expect(backendLocation({name: 'legacy'}, {}, {MYCLI_RUNTIME_ORIGIN: 'https://runtime.example'})).toEqual(legacy);
  });

  test('names no address that nobody has set', () => {
    expect(backendLocation({name: 'api'}, {}, {})).toEqual({backend: 'api'});
    expect(backendLocation({name: 'legacy'}, {}, {})).toEqual({backend: 'legacy'});
    expect(() => backendLocation({name: 'legacy'}, {origin: 'ftp://a'}, {})).toThrow(/^origin .*ftp/);
  });

  test('is that of no options when a plugin has none', () => {
    expect(backendLocation({name: 'acme'}, {}, {})).toEqual(optionsOf({}));
    expect(optionsOf({})).toMatchObject({
      backend: 'acme',
      optionsSha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
    });
  });

  test('is told by the options of a plugin, in any order, without its secrets', () => {
    const location = optionsOf({bucket: 'b', region: 'eu', token: 'canary'});
    expect(JSON.stringify(location)).not.toContain('canary');
    expect(optionsOf({region: 'eu', token: 'another', bucket: 'b'})).toEqual(location);
    expect(optionsOf({region: 'us', bucket: 'b'})).not.toEqual(location);
    const written = createHash('sha256').update('[["bucket","b"],["region","eu"]]').digest('hex');
    expect(location).toEqual({backend: 'acme', optionsSha256: written});
  });
});
