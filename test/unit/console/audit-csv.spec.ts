import { describe, expect, it } from 'vitest';
import type { ApplicationAuditEvent } from '../../../packages/client/src/index.js';
import { csvOf } from '../../../packages/console/src/pages/audit/audit-csv.js';

const EVENT: ApplicationAuditEvent = {
  id: '1',
  timestamp: '2026-01-31T10:20:30.123Z',
  action: 'tool.switch',
  outcome: 'ok',
  actor: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
  subject: 'jane.doe',
  issuer: 'https://sso.example.com',
  systemResourceId: null,
  toolId: null,
  requestId: 'r-1',
  callerRequestId: null,
  details: null,
  applicationVersionId: 'v1',
};
const named = (userName: string): string => csvOf([{ ...EVENT, actor: { ...EVENT.actor, userName } }]);

describe('csvOf', () => {
  it('writes a header line and a line for each event', () => {
    const [names, event, end] = csvOf([EVENT]).split('\r\n');
    expect(names?.split(',').slice(0, 4)).toEqual(['timestamp', 'action', 'outcome', 'userName']);
    expect(event).toBe(
      '2026-01-31T10:20:30.123Z,tool.switch,ok,jane.doe,,jane.doe,https://sso.example.com,v1,,,r-1,,,1',
    );
    expect(end).toBe('');
  });

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])(
    'does not let a spreadsheet evaluate %j as a formula',
    (text) => {
      expect(named(text)).toContain(`'${text}`);
    },
  );

  it.each(['x;=1+1', 'x\t=1+1'])('quotes %j so that no program splits the cell', (text) => {
    expect(named(text)).toContain(`,"${text}",`);
  });

  it('quotes values with a quote, comma or line break', () => {
    expect(named('=HYPERLINK("https://x",1)')).toContain(`"'=HYPERLINK(""https://x"",1)"`);
    expect(csvOf([{ ...EVENT, details: { a: 'b' } }])).toContain('"{""a"":""b""}"');
  });
});
