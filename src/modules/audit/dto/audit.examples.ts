/** What the API documentation shows for the audit log. */
export const AUDIT_PAGE_EXAMPLE = {
  events: [
    {
      id: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b30',
      timestamp: '2026-01-31T10:20:30.123Z',
      action: 'tool.switch',
      outcome: 'ok',
      actor: { firstName: 'Jane', lastName: 'Doe', userName: 'jane.doe', impersonatingUser: null },
      subject: 'f6c1d9b3',
      issuer: 'https://sso.example.com/realms/main',
      systemResourceId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b10',
      toolId: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20',
      requestId: '0a6f2c4e-2a57-4f0c-9a55-0d6d3f6c8f11',
      details: { tool: 'get-stock', enabled: false, wasEnabled: true },
    },
  ],
  next: null,
};
