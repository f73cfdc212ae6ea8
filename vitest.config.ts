import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/{unit,property,contract,integration,e2e}/**/*.test.{ts,tsx}'],
    // The machine's own git configuration (identity, signing, default branch) must not decide a test.
    env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
    pool: 'forks',
    globalSetup: ['test/support/global-setup.ts'],
  },
});
