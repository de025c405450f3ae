/// English words that tell whether something was, is, will be or only might be, and whose it is.
enum EnglishSenses {
  static let vocabulary: [(meaning: WordMeaning, phrases: [String])] = [
    (
      .futureSense,
      [
        "is", "it's", "its", "that's", "am", "i'm", "im", "are", "we're", "will", "i'll", "we'll", "it'll", "have",
        "has", "i have", "i've got", "ive got", "have got", "going to", "gonna", "coming up", "upcoming",
        "scheduled", "scheduled for", "scheduled on", "set for", "booked for", "need to", "needs to", "must",
        "have to", "has to", "gotta", "supposed to", "there's", "there is", "starts", "begins", "looking forward to",
        "look forward to", "nervous about", "anxious about", "worried about", "stressed about", "excited for",
        "excited about", "dreading", "not until", "isn't until", "is not until", "isn't till", "not till",
        "prepare for", "preparing for", "get ready for", "prep for", "i present", "i fly", "taking", "due",
        "wish me luck", "i meet",
      ]
    ),
    (
      .pastSense,
      [
        "had", "was", "were", "went", "did", "gave", "attended", "finished", "passed", "failed", "aced", "bombed",
        "nailed", "have had", "i've had", "i had", "we had", "i was", "it was", "took", "survived", "saw", "met",
        "spoke", "talked", "presented", "happened", "ended", "flew", "interviewed", "rocked", "completed", "felt",
        "submitted", "handed in", "turned in", "came", "since", "wasn't", "weren't", "didn't", "hadn't", "missed",
        "is over", "is done", "are over", "are done", "i'm done with", "it's over", "just had", "got my", "argued",
        "cried", "skipped", "celebrated", "got back from", "performed", "ran", "won", "lost", "moderated",
        "got through",
      ]
    ),
    (
      .hedge,
      [
        "maybe", "might", "perhaps", "possibly", "probably", "potentially", "hopefully", "may", "may have", "may be",
        "could have", "could be", "would be", "would have", "thinking about", "thinking of", "considering",
        "want to", "wanna", "hoping to", "hope to", "hoping for", "not sure", "unsure", "tentatively", "tentative",
        "let's say", "i wish", "i'd like to", "i would like to", "should i schedule", "should i book", "shall we",
        "let's", "lets", "could schedule", "should schedule", "was supposed to", "were supposed to", "used to",
        "trying to get", "trying to schedule", "planning to", "postpone", "cancel", "reschedule", "maybe even",
        "could do", "tbd", "either", "imagine", "pretend", "dreamt", "dreamed", "don't know if",
        "don't know whether", "wait to hear", "waiting to hear", "waiting for",
      ]
    ),
    (.condition, ["if", "unless", "whether", "suppose", "supposing", "in case", "what if", "assuming", "provided"]),
    (
      .anothers,
      [
        "his", "her", "their", "he", "she", "they", "he's", "she's", "they're", "he has", "she has", "they have",
        "my sister", "my brother", "my son", "my daughter", "my kid", "my kids", "my husband", "my wife",
        "my partner", "my friend", "my best friend", "my mom", "my mum", "my dad", "my mother", "my father",
        "my girlfriend", "my boyfriend", "my roommate", "my cousin", "my neighbor", "my neighbour", "my colleague",
        "my coworker", "everyone", "everybody", "someone", "somebody", "your", "he'll", "she'll", "they'll",
        "a friend", "my parents", "my uncle", "my aunt", "my nephew", "my niece", "my grandma", "my grandpa",
      ]
    ),
    (
      .writers,
      [
        "i", "i'm", "im", "i'll", "i've", "i'd", "we", "we're", "we'll", "we've", "my", "our", "i have", "i've got",
        "me", "ive got", "i present", "i fly", "i had", "i was", "we had", "i meet",
      ]
    ),
    (.asking, ["is", "are", "was", "isn't", "do i have", "did", "do we have", "am", "is there", "when is", "when's"]),
    (
      .pronoun,
      ["it", "it's", "its", "that's", "it'll", "that", "this is", "they're", "which", "it is", "that is", "it was"]
    ),
    (.contrast, ["but", "however", "although", "though", "whereas"]),
  ]
}
