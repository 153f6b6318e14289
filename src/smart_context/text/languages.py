"""Detect the language of text in Latin letters, by its stop words and its special letters.

In: lower-case words.  Out: a code of `CODES`, or "" without evidence for one.
Always: the answer depends on the words alone. Other scripts need no detection: the letters decide how a word is stemmed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from smart_context import later

# Stop words. They are used for detection, and left out of queries.
STOP_WORDS: dict[str, frozenset[str]] = {
    code: frozenset(words.split())
    for code, words in {
        "en": """a d m about above after again against all also am an and any are as at be because been before being below
            between both but by can cannot could did do does doing don down during each few for from further had has have
            having he her here hers herself him himself his how i if in into is isn it its itself just ll me more most my
            myself no nor not now of off on once only or other our ours ourselves out over own re s same she should so some
            such t than that the their theirs them themselves then there these they this those through to too under until up
            us ve very was we were what when where which while who whom whose why will with would you your yours yourself""",
        "de": """aber als am an auch auf aus bei bin bis bist da damit das dass dein dem den der des dessen die dies diese
            diesem diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euer für gegen gibt
            habe haben hat hatte hier ich ihm ihn ihr ihre im in ist ja jede jedem jeder jetzt kann kein keine man mehr mein
            mit nach nicht noch nur ob oder ohne sehr sein seine sich sie sind so sondern über um und uns unser unter vom von
            vor wann war waren warum was weil welche welcher wenn wer werden wie wieder will wir wird wo womit wurde wurden
            zu zum zur zwischen""",
        "fr": """à ai alors as au aucun aussi autre aux avec avez avoir c ce ces cet cette ceux comme comment d dans de des
            donc dont du elle elles en entre es est et étaient était être eu fait faut il ils j je l la le les leur leurs lui
            m ma mais me même mes moi mon n ne nos notre nous on ont ou où par pas peut plus pour pourquoi qu quand que quel
            quelle quels qui s sa sans se sera ses si son sont sous sur ta te tes toi ton tous tout très tu un une vers vos
            votre vous y""",
        "es": """a al algo ante antes aquí así aunque cada como cómo con contra cual cuál cuando cuándo cuántos de del desde
            donde dónde dos e el él ella ellas ellos en entre era es esa ese eso esta está están este esto estos fue ha han
            hasta hay la las le les lo los más me mi mientras muy nada ni no nos o otra otro para pero poco por porque puede
            que qué quien quién se sea según ser si sí sin sobre son su sus también tan te tiene todo todos tu tus un una uno
            unos y ya yo""",
        "pt": """a ao aos as até com como da das de dela dele deles depois do dos e é ela elas ele eles em entre era essa
            esse esta está este eu foi há isso isto já lhe mais mas me mesmo meu minha muito na não nas nem no nos nós num
            numa o os ou para pela pelas pelo pelos por porque qual quando que quem são se sem ser seu seus só sua suas também
            te tem têm um uma você""",
        "it": """a ad agli ai al alla alle allo anche che chi ci come con cosa cui d da dagli dai dal dalla dalle degli dei
            del dell della delle dello di dove e è ed era gli ha hanno i il in io la le lei li lo loro lui ma mi mia mio molto
            ne negli nei nel nella nelle nello noi non nostro o per perché più può quale quando quella quello questa questo
            se sei si sia sono su sua sue sugli sui sul sulla suo tra tu tutti un una uno vi voi""",
        "nl": """aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er
            ge geen geweest haar had heb hebben heeft hem het hier hij hoe hun iemand iets ik in is ja je kan kon kunnen maar
            me meer men met mij mijn moet na naar niet niets nog nu of om omdat onder ons ook op over reeds te tegen toch toen
            tot u uit uw van veel voor want waren was wat werd wezen wie wil worden wordt zal ze zelf zich zij zijn zo zonder
            zou""",
        "sv": """alla allt att av blev bli blir de dem den denna deras dess det detta dig din där då efter ej eller en er
            ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag kan kunde man med
            mellan men mig min mitt mot mycket ni nu när någon något några och om oss på sedan sig sin sina skulle som så till
            under upp ut utan vad var varför vart vem vi vid vilken är över""",
        "da": """af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter
            eller en er et for fra ham han hans har havde have hende hendes her hos hun hvad hvis hvor i ikke ind jeg jo kan
            kunne man mange med meget men mig min mod ned noget nogle nu når og også om op os over på selv sig sin skal skulle
            som sådan thi til ud under var vi vil ville vor være været""",
        "nb": """alle at av bare begge ble blei bli blir da de deg dem den denne der dere deres det dette du eller en er et
            etter for fordi fra før ha hadde han hans har hennes her hun hva hvem hver hvilken hvis hvor hvordan hvorfor i
            ikke inn ja jeg kan kom kun kunne man mange med meg men mens mer min mot mye når noe noen nå og også om opp oss
            over på samme seg selv si sin skal skulle slik som så til under ut uten var ved vi vil ville vært være""",
        "fi": """ei eivät että ja jo joka jos jotka kanssa koska kuin kun me mikä minä missä mitä mukaan mutta myös ne niin
            nyt oli olivat olla on ole ovat se sekä sen siitä sitten tai tämä tässä vain voi hän he joita jossa jonka""",
        "hu": """a az azt de egy egyes ez ezek ezt hogy ha hogyan is ki kell lehet meg mely mert mi mint mit nem nincs sem
            szerint vagy van volt és össze után által már csak még minden ami aki amely olyan majd""",
        "ro": """a acest această acestea al ale am ar are au ca că care ce cel cele cei cu cum da dar de din după e ea ei el
            este fi fost și în între la le lor lui mai mult nu o pe pentru prin sa sau se si sunt un unei unui va""",
        "tr": """acaba ama ancak bazı belki ben beni bir biri biz bu buna bunu çok çünkü da daha de defa değil diye en gibi
            göre hem hep her hiç için ile ise kaç ki kim mi mı mu mü nasıl ne neden nerede o olan olarak oldu onu sonra şey
            siz şu tüm var ve veya ya yani yok""",
        "pl": """a aby albo ale bardzo bez był była było były by być ci co czy czyli dla do gdy gdzie go i ich ile ilu im
            inne iż ja jak jako je jego jej jest jeszcze już kiedy która które którego której który których ku lub ma mają
            można na nad nie niż o od on ona oni oraz po pod przed przez przy się są tak także tam te tego tej ten to tylko tym
            u w we wie wszystkie z za ze że""",
        "cs": """a aby ale ani ano až by byl byla bylo byly být co další do i já jak jako je jeho její jejich jen jestli již
            k kde kdo která které který ma má mezi mi může na nad ne nebo než o od pak po pod podle pokud pro proto před při
            s se si také tak ten to tu u už v ve však více z za že""",
        "vi": """và của là có không được cho một những các trong với này đã để người khi từ đến như ra về tại theo nhiều
            cũng sẽ vào trên bị rồi thì mà nào ở do bằng hay mỗi""",
        "id": """yang dan di ke dari untuk dengan pada adalah ini itu tidak dalam akan oleh juga atau karena sebagai ada
            mereka kami kita dapat telah saya anda bisa sudah lebih""",
    }.items()
}

CODES = ("", *STOP_WORDS)  # the place of a code in this tuple is what the index stores; only ever append

# Stop words of scripts that need no detection.
_OTHER = """и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще
    нет о из ему теперь когда даже ну ли если уже или ни быть был него до вас нибудь опять уж вам ведь там потом себя ей может
    они тут где есть надо ней для мы тебя их чем была сам чтоб без будто чего раз тоже себе под будет ж тогда кто этот сколько
    скольких можно при под через
    ο η το οι τα του της των τον την και κι να θα σε στο στη στην στον στα στους στις με από για ως που πως τι είναι ειναι ήταν
    δεν μη μην αν αλλά ή τη τους τις ένα ένας μια μία πόσο πόσα πόσες πόσους
    في من على إلى الى عن مع هذا هذه ذلك التي الذي ما لا لم لن هل كم كان كانت أن ان إن أو او ثم قد كل بين حتى هو هي و
    של את על עם זה זו הוא היא הם הן לא כן אם או גם כי אשר מה מי איך כמה האם יש אין אל בין כל אבל רק אך כדי
    का की के को में से है हैं था थे थी और या पर यह वह ये वे ने भी तो ही जो कि इस उस एक क्या कितना कितने कितनी कब कैसे कहाँ
    लिए तक साथ हो गया गए गई करना होता होती जा सकता"""
OTHER_STOP_WORDS = frozenset(_OTHER.split())
ANY_STOP_WORD = OTHER_STOP_WORDS.union(*STOP_WORDS.values())


def _by_word() -> dict[str, tuple[tuple[str, float], ...]]:
    owners: dict[str, tuple[str, ...]] = {}
    for code, words in STOP_WORDS.items():
        for word in words:
            owners[word] = (*owners.get(word, ()), code)
    shares = {codes: tuple((code, 1.0 / len(codes)) for code in codes) for codes in set(owners.values())}
    # One letter alone is as often an initial, or a name in a formula.
    return {word: shares[codes] for word, codes in owners.items() if len(word) > 1 or not word.isascii()}


BY_WORD = _by_word()  # word → the languages that have it, and its vote for each

# Letters that few languages have, worth as much as a word.
_LETTERS = {
    "ß": ("de",),
    "ä": ("de", "sv", "fi"),
    "ö": ("de", "sv", "fi", "hu", "tr"),
    "ü": ("de", "hu", "tr"),
    "ñ": ("es",),
    "¿": ("es",),
    "ã": ("pt",),
    "õ": ("pt",),
    "œ": ("fr",),
    "ê": ("fr", "pt", "vi"),
    "ù": ("fr", "it"),
    "ò": ("it",),
    "ì": ("it",),
    "å": ("sv", "da", "nb"),
    "ø": ("da", "nb"),
    "æ": ("da", "nb"),
    "ő": ("hu",),
    "ű": ("hu",),
    "ă": ("ro", "vi"),
    "ș": ("ro",),
    "ț": ("ro",),
    "ğ": ("tr",),
    "ş": ("tr",),
    "ı": ("tr",),
    "ł": ("pl",),
    "ż": ("pl",),
    "ś": ("pl",),
    "ć": ("pl",),
    "ę": ("pl",),
    "ą": ("pl",),
    "ř": ("cs",),
    "ě": ("cs",),
    "ů": ("cs",),
    "ơ": ("vi",),
    "ư": ("vi",),
    "đ": ("vi",),
    "ạ": ("vi",),
    "ế": ("vi",),
    "ộ": ("vi",),
}
RARE = "".join(_LETTERS)
_RARE = later.pattern(f"[{RARE}]")
_PLACES = {code: at for at, code in enumerate(CODES)}
SAMPLE = 300  # words whose letters are examined
_LEAST_SHARE = 0.05  # of the words: less is a word or two borrowed from another language
_SHORT = 12  # different words: up to so many, one word of evidence is enough
ENGLISH = STOP_WORDS["en"] - frozenset().union(*(words for code, words in STOP_WORDS.items() if code != "en"))
SURELY = 12  # different words that only English has


def detect(words: Sequence[str], least: float = 1.0) -> str:
    """The most likely language of these lower-case words; "" where the evidence is below `least` (a whole word is 1), or from too few of the words."""
    if is_surely_english(words):
        return "en"
    distinct = set(words)
    return weighed(BY_WORD.keys() & distinct, len(distinct), "".join(words[:SAMPLE]), least)


def is_surely_english(words: Sequence[str]) -> bool:
    """Whether these lower-case words are in English, as most texts are: no other language borrows so many words of it."""
    return len(ENGLISH.intersection(words)) >= SURELY


def weighed(told: Collection[str], distinct: int, letters: str, least: float) -> str:
    """The result of `detect` for `distinct` different words, by those that are stop words and by their letters; without the test for surely English."""
    votes: dict[str, float] = {}
    # A repeated word counts once: the different words of a language are its evidence.
    for word in sorted(told):
        for code, share in BY_WORD[word]:
            votes[code] = votes.get(code, 0.0) + share
    own = [] if letters.isascii() else _RARE.findall(letters)
    for letter in own:
        for code in _LETTERS[letter]:
            votes[code] = votes.get(code, 0.0) + 1.0 / len(_LETTERS[letter])
    # Of equal votes the first language; few languages have any.
    best = min(votes, key=lambda code: (-votes[code], _PLACES[code]), default="")
    return decided(best, votes.get(best, 0.0), len(told) + len(own), distinct, least)


def decided(best: str, votes: float, told: int, distinct: int, least: float) -> str:
    """The language with the most votes, unless the evidence is too little; "" without any."""
    if not best or (least >= 1 and distinct > _SHORT and told < 2):
        return ""
    return best if votes >= max(least, _LEAST_SHARE * min(distinct, SAMPLE)) else ""


def stop_words(words: Sequence[str]) -> frozenset[str]:
    """The words to leave out of a query of these lower-case words: those of the language it seems to be in."""
    return STOP_WORDS[detect(words, least=0.2) or "en"] | OTHER_STOP_WORDS
