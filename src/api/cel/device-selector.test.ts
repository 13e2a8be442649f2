import { describe, expect, test } from 'vitest';
import { compileDeviceSelector, type DeviceFacts } from './device-selector.ts';

const gpu: DeviceFacts = {
  driver: 'gpu.example.com',
  attributes: {
    model: { string: 'a100' },
    'gpu.example.com/cores': { int: 108 },
    ecc: { bool: true },
    driverVersion: { version: '535.104.5' },
    'other.example.com/rack': { string: 'r1' },
  },
  capacity: { memory: { value: '40Gi' } },
  shared: false,
};

function selects(expression: string, device = gpu): unknown {
  const selector = compileDeviceSelector(expression);
  if (typeof selector !== 'function') throw new Error(selector.error);
  return selector(device);
}

describe('a selector of devices', () => {
  test.each([
    ['device.driver == "gpu.example.com"', true],
    ['device.driver == "other.example.com"', false],
    ['device.attributes["gpu.example.com"].model == "a100"', true],
    ['device.attributes["gpu.example.com"].cores > 100', true],
    ['device.attributes["gpu.example.com"].ecc', true],
    ['device.attributes["other.example.com"].rack in ["r1", "r2"]', true],
    ['device.capacity["gpu.example.com"].memory.compareTo(quantity("40Gi")) >= 0', true],
    ['device.capacity["gpu.example.com"].memory.isGreaterThan(quantity("80Gi"))', false],
    ['device.attributes["gpu.example.com"].driverVersion.isGreaterThan(semver("535.0.0"))', true],
    ['device.attributes["gpu.example.com"].driverVersion.compareTo(semver("536.0.0")) < 0', true],
    ['device.allowMultipleAllocations', false],
  ])('%s is %s', (expression, expected) => {
    expect(selects(expression)).toBe(expected);
  });

  test('fails on a device without the attribute it reads', () => {
    const expression = 'device.attributes["gpu.example.com"].nothing == "x"';
    expect(selects(expression)).toMatchObject({ error: expect.stringContaining('failed') });
    expect(selects(`"nothing" in device.attributes["gpu.example.com"] && ${expression}`)).toBe(false);
  });

  test('that is neither true nor false fails', () => {
    expect(selects('device.driver')).toMatchObject({ error: expect.stringContaining('neither true nor false') });
  });

  test('sees an empty map where no attribute has the domain', () => {
    expect(selects('!("x" in device.attributes["nowhere.example.com"])')).toBe(true);
  });

  test('that cannot be read says so', () => {
    expect(compileDeviceSelector('device.driver ==')).toMatchObject({ error: expect.stringContaining('cannot read') });
  });
});
