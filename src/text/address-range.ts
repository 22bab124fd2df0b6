import {isIP} from 'node:net';

/** A CIDR range, such as `203.0.113.0/24`, in its parts; undefined if it is none. */
export function parseAddressRange(text: string) {
  const [, network = '', bits = ''] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const family = isIP(network);
  if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) return undefined;
  return {network, bits: Number(bits), family: family === 4 ? 'ipv4' : 'ipv6'} as const;
}
