import {BlockList, isIP, isIPv6} from 'node:net';

/** The addresses of a CIDR block, such as `203.0.113.0/24`, or a single one. Undefined for any other text. */
export function ipAddressesIn(text: string): BlockList | undefined {
  const [, network = text, bits] = /^([^/]+)\/(\d{1,3})$/.exec(text) ?? [];
  const [most, family] = isIPv6(network) ? ([128, 'ipv6'] as const) : ([32, 'ipv4'] as const);
  if (isIP(network) === 0 || Number(bits ?? most) > most) return undefined;
  const list = new BlockList();
  list.addSubnet(network, Number(bits ?? most), family);
  return list;
}
