/// English phrases that look like times, events or senses and are none, and words that are known to be no nouns.
enum EnglishIdioms {
  static let vocabulary: [(meaning: WordMeaning, phrases: [String])] = [
    (.idiom, lookAlikes + settledDoubts + functionWords)
  ]

  private static let lookAlikes = [
    "24/7", "50/50", "9/11", "7/11", "may i", "may we", "march on", "march in", "good morning", "good evening",
    "good night", "good afternoon", "goodnight", "morning person", "night owl", "at first", "at once", "at last",
    "at least", "at most", "at all", "for once", "some day", "someday", "these days", "day to day", "day by day",
    "day one", "at the end of the day it's", "every day", "every night", "every morning", "all day", "all night",
    "day off", "sunday best", "sunday scaries", "black friday", "taco tuesday", "monday blues", "in a minute",
    "in a second", "in a sec", "second thoughts", "second guess", "second guessing", "on second thought",
    "in the long run", "meeting people", "meeting new people", "meeting my needs", "meeting expectations",
    "meeting halfway", "game changer", "the game of", "move on", "class act", "time and again", "date back",
    "to date", "up to date", "out of date", "due to", "due diligence", "stress test", "review of", "trip over",
    "guilt trip", "crash course", "party of", "in no time", "two minds", "2 minds", "once a week", "twice a week",
    "per day", "per week", "any day", "the day", "same day", "the night before", "the day before", "the day after",
    "call it a day", "second nature", "at one point", "one of", "last minute", "last time", "next time", "this time",
    "next step", "next level", "next door", "next to", "as of late", "past few", "the last few", "in the past",
    "for a while", "a second", "one second", "on call", "catch up on", "match made",
  ]

  /// Doubts about oneself and not about whether something will be.
  private static let settledDoubts = [
    "not sure if i", "not sure if i'm", "don't know if i", "don't know if i'm", "don't know if i'll", "wonder if i",
    "wondering if i", "wondering if i'm", "worried if i", "not sure how", "not sure what", "wasn't cancelled",
    "not cancelled", "isn't cancelled", "hasn't been cancelled", "wasn't canceled", "not canceled", "isn't canceled",
    "not sure i", "not sure i'm", "see if i", "ask if i", "as if", "even if", "want to do well", "want to cry",
    "want to nail", "want to ace", "want to prepare", "want to practice", "want to be ready", "want to talk about",
    "hopefully i", "hope i", "maybe you", "might need", "if you", "might cry", "might die", "might throw up",
    "might be sick", "would be great", "let's talk about", "thinking about my", "thinking about the", "i was told",
    "i was wondering", "i was hoping", "i just found out", "was thinking about", "don't want to", "not cancel",
    "can't cancel",
  ]

  /// After an hour or a position they show that it counts nothing.
  private static let functionWords = [
    "so", "because", "cause", "cuz", "since i", "then", "when", "where", "who", "what", "how", "why", "with", "you",
    "please", "ok", "okay", "yes", "yeah", "too", "also", "again", "already", "still", "just", "really", "very",
    "here", "there", "out", "up", "as", "can", "could", "would", "should", "do", "does", "be", "been", "being",
    "get", "go", "feel", "feeling", "help", "wish", "thanks", "lol", "haha", "ugh", "omg", "pls", "see", "think",
    "start", "starting", "ready", "now", "not yet", "yet", "than", "was it", "all", "us", "them", "him", "these",
    "those", "finally", "downtown", "online", "over", "i think", "i guess", "local", "right", "exactly", "latest",
    "both",
  ]
}
