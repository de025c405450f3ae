import Settings
import Testing

@Suite("Settings of campaigns")
struct CampaignSettingsTests {
  @Test("every key takes effect")
  func everything() throws {
    let settings = try makeSettings(
      [
        "PUSH_TRIGGER_ENABLED": "true", "PUSH_TRIGGER_TIME": "08:05", "LANGUAGE_MODEL_PROVIDER": "openai",
        "LANGUAGE_MODEL_URL": "http://127.0.0.1:9/v1", "LANGUAGE_MODEL_KEY": "sk-1", "LANGUAGE_MODEL_NAME": "small",
        "LANGUAGE_MODEL_MILLISECONDS": "2500", "LANGUAGE_MODEL_INPUT_DOLLARS": "0.25",
        "LANGUAGE_MODEL_OUTPUT_DOLLARS": "1.5", "LANGUAGE_MODEL_DAILY_TOKENS_MAX": "0",
        "LANGUAGE_MODEL_DAILY_DOLLARS_MAX": "0.5", "CONTENT_AUTHORIZATION": "Bearer t-1",
        "CONTENT_PRIVATE_ADDRESSES": "true", "SLOT_PUSHES_PER_SECOND": "500",
      ]
    ).campaigns
    #expect(settings.minutes == 485)
    #expect(settings.dailyTokensMax == 0)
    #expect(settings.dailyMicrodollarsMax == 500_000)
    #expect(settings.modelProvider == .openai)
    #expect(settings.modelURL?.exposed == "http://127.0.0.1:9/v1")
    #expect(settings.modelKey?.exposed == "sk-1")
    #expect(settings.modelName == "small")
    #expect(settings.modelLimit == .milliseconds(2_500))
    #expect(settings.modelInputPrice == 0.25)
    #expect(settings.modelOutputPrice == 1.5)
    #expect(settings.contentAuthorization?.exposed == "Bearer t-1")
    #expect(settings.allowsPrivateContent)
    #expect(settings.slotPushesPerSecond == 500)
  }

  @Test(
    "what cannot be meant is refused by its name",
    arguments: [
      ("PUSH_TRIGGER_TIME", "24:00"), ("PUSH_TRIGGER_TIME", "10:60"), ("PUSH_TRIGGER_TIME", "9:30"),
      ("PUSH_TRIGGER_TIME", "10"), ("PUSH_TRIGGER_TIME", "10:00:00"), ("LANGUAGE_MODEL_PROVIDER", "abacus"),
      ("LANGUAGE_MODEL_URL", "ftp://host"), ("LANGUAGE_MODEL_URL", "https://host?key=1"),
      ("LANGUAGE_MODEL_KEY", "two words"), ("LANGUAGE_MODEL_MILLISECONDS", "99"),
      ("LANGUAGE_MODEL_MILLISECONDS", "60001"), ("LANGUAGE_MODEL_INPUT_DOLLARS", "-1"),
      ("LANGUAGE_MODEL_INPUT_DOLLARS", "1."), ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "1.1234567"),
      ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "10001"), ("LANGUAGE_MODEL_DAILY_TOKENS_MAX", "-1"),
      ("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", "ten"), ("CONTENT_AUTHORIZATION", "two  blanks"),
      ("CONTENT_AUTHORIZATION", "Bearer tökén"), ("CONTENT_AUTHORIZATION", "a\tb"),
      ("CONTENT_PRIVATE_ADDRESSES", "1.0"), ("SLOT_PUSHES_PER_SECOND", "0"), ("SLOT_PUSHES_PER_SECOND", "100001"),
    ])
  func unusable(key: String, value: String) {
    #expect(problems([key: value]).map(\.key) == [key])
  }

  @Test(
    "edges are meant",
    arguments: [
      ("PUSH_TRIGGER_TIME", "00:00"), ("PUSH_TRIGGER_TIME", "23:59"), ("LANGUAGE_MODEL_MILLISECONDS", "100"),
      ("LANGUAGE_MODEL_MILLISECONDS", "60000"), ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "0.123456"),
      ("LANGUAGE_MODEL_OUTPUT_DOLLARS", "10000"), ("LANGUAGE_MODEL_DAILY_DOLLARS_MAX", "0"),
      ("SLOT_PUSHES_PER_SECOND", "1"), ("SLOT_PUSHES_PER_SECOND", "100000"),
    ])
  func edges(key: String, value: String) {
    #expect(problems([key: value]).isEmpty)
  }
}
