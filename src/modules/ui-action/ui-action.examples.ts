export const UI_ACTION_BODY_EXAMPLES = {
  form: { summary: 'Data of a form', value: { application: { amount: 20000, months: 48, income: 5200 } } },
  nothing: { summary: 'Nothing but the decision', value: {} },
};

const TOKEN = '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b20';

export const UI_ACTION_EXAMPLES = {
  plain: {
    summary: 'The token went on',
    value: {
      tokenUuid: TOKEN,
      currentNodeId: 1003,
      templatesSequence: null,
      backAction: false,
      resetToken: false,
    },
  },
  back: {
    summary: 'A new token stands at the earlier node',
    value: {
      tokenUuid: '01920f3e-7d6b-7c3a-9a54-3f2f6c1d9b21',
      currentNodeId: 1002,
      templatesSequence: null,
      backAction: true,
      resetToken: true,
    },
  },
};
