graph [
  name "ebone"
  description "Ebone AS1755, Rocketfuel (Spring et al., 2004; weights of Mahajan et al., 2002)"
  node [
    id 0
    label "London 209"
    place "London"
    region "GB"
    published_index 0
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 1
    label "London 289"
    place "London"
    region "GB"
    published_index 1
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 2
    label "New York 239"
    place "New York City"
    region "US-NY"
    published_index 2
    Latitude 40.71427
    Longitude -74.00597
  ]
  node [
    id 3
    label "Amsterdam 227"
    place "Amsterdam"
    region "NL"
    published_index 3
    Latitude 52.37403
    Longitude 4.88969
  ]
  node [
    id 4
    label "Bracknell 278"
    place "Bracknell"
    region "GB"
    published_index 4
    Latitude 51.41363
    Longitude -0.75054
  ]
  node [
    id 5
    label "London 201"
    place "London"
    region "GB"
    published_index 5
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 6
    label "Bracknell 279"
    place "Bracknell"
    region "GB"
    published_index 6
    Latitude 51.41363
    Longitude -0.75054
  ]
  node [
    id 7
    label "London 293"
    place "London"
    region "GB"
    published_index 7
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 8
    label "Paris 193"
    place "Paris"
    region "FR"
    published_index 8
    Latitude 48.85341
    Longitude 2.3488
  ]
  node [
    id 9
    label "London 287"
    place "London"
    region "GB"
    published_index 9
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 10
    label "London 288"
    place "London"
    region "GB"
    published_index 10
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 11
    label "Copenhagen 179"
    place "Copenhagen"
    region "DK"
    published_index 11
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 12
    label "Manchester 177"
    place "Manchester"
    region "GB"
    published_index 12
    Latitude 53.48095
    Longitude -2.23743
  ]
  node [
    id 13
    label "Stockholm 231"
    place "Stockholm"
    region "SE"
    published_index 13
    Latitude 59.32938
    Longitude 18.06871
  ]
  node [
    id 14
    label "Copenhagen 182"
    place "Copenhagen"
    region "DK"
    published_index 14
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 15
    label "Copenhagen 271"
    place "Copenhagen"
    region "DK"
    published_index 15
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 16
    label "Copenhagen 272"
    place "Copenhagen"
    region "DK"
    published_index 16
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 17
    label "New York 240"
    place "New York City"
    region "US-NY"
    published_index 17
    Latitude 40.71427
    Longitude -74.00597
  ]
  node [
    id 18
    label "London 207"
    place "London"
    region "GB"
    published_index 18
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 19
    label "London 208"
    place "London"
    region "GB"
    published_index 19
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 20
    label "Munich 266"
    place "Munich"
    region "DE"
    published_index 20
    Latitude 48.13743
    Longitude 11.57549
  ]
  node [
    id 21
    label "Munich 267"
    place "Munich"
    region "DE"
    published_index 21
    Latitude 48.13743
    Longitude 11.57549
  ]
  node [
    id 22
    label "Hamburg 264"
    place "Hamburg"
    region "DE"
    published_index 22
    Latitude 53.55073
    Longitude 9.99302
  ]
  node [
    id 23
    label "Dusseldorf 261"
    place "D&#252;sseldorf"
    region "DE"
    published_index 23
    Latitude 51.22319
    Longitude 6.77927
  ]
  node [
    id 24
    label "Berlin 162"
    place "Berlin"
    region "DE"
    published_index 24
    Latitude 52.52437
    Longitude 13.41053
  ]
  node [
    id 25
    label "Vienna 129"
    place "Vienna"
    region "AT"
    published_index 25
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 26
    label "Vienna 242"
    place "Vienna"
    region "AT"
    published_index 26
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 27
    label "Dusseldorf 260"
    place "D&#252;sseldorf"
    region "DE"
    published_index 27
    Latitude 51.22319
    Longitude 6.77927
  ]
  node [
    id 28
    label "Munich 176"
    place "Munich"
    region "DE"
    published_index 28
    Latitude 48.13743
    Longitude 11.57549
  ]
  node [
    id 29
    label "Vienna 126"
    place "Vienna"
    region "AT"
    published_index 29
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 30
    label "Brussels 135"
    place "Brussels"
    region "BE"
    published_index 30
    Latitude 50.85045
    Longitude 4.34878
  ]
  node [
    id 31
    label "Brussels 247"
    place "Brussels"
    region "BE"
    published_index 31
    Latitude 50.85045
    Longitude 4.34878
  ]
  node [
    id 32
    label "Brussels 136"
    place "Brussels"
    region "BE"
    published_index 32
    Latitude 50.85045
    Longitude 4.34878
  ]
  node [
    id 33
    label "Brussels 246"
    place "Brussels"
    region "BE"
    published_index 33
    Latitude 50.85045
    Longitude 4.34878
  ]
  node [
    id 34
    label "London 291"
    place "London"
    region "GB"
    published_index 34
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 35
    label "Dusseldorf 164"
    place "D&#252;sseldorf"
    region "DE"
    published_index 35
    Latitude 51.22319
    Longitude 6.77927
  ]
  node [
    id 36
    label "Frankfurt 263"
    place "Frankfurt am Main"
    region "DE"
    published_index 36
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 37
    label "Frankfurt 168"
    place "Frankfurt am Main"
    region "DE"
    published_index 37
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 38
    label "Geneva 250"
    place "Geneva"
    region "CH"
    published_index 38
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 39
    label "Dusseldorf 163"
    place "D&#252;sseldorf"
    region "DE"
    published_index 39
    Latitude 51.22319
    Longitude 6.77927
  ]
  node [
    id 40
    label "Frankfurt 170"
    place "Frankfurt am Main"
    region "DE"
    published_index 40
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 41
    label "Frankfurt 166"
    place "Frankfurt am Main"
    region "DE"
    published_index 41
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 42
    label "Frankfurt 169"
    place "Frankfurt am Main"
    region "DE"
    published_index 42
    Latitude 50.11552
    Longitude 8.68417
  ]
  node [
    id 43
    label "Geneva 144"
    place "Geneva"
    region "CH"
    published_index 43
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 44
    label "Geneva 145"
    place "Geneva"
    region "CH"
    published_index 44
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 45
    label "Geneva 146"
    place "Geneva"
    region "CH"
    published_index 45
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 46
    label "Paris 196"
    place "Paris"
    region "FR"
    published_index 46
    Latitude 48.85341
    Longitude 2.3488
  ]
  node [
    id 47
    label "Antwerp 244"
    place "Antwerp"
    region "BE"
    published_index 47
    Latitude 51.22047
    Longitude 4.40026
  ]
  node [
    id 48
    label "Copenhagen 181"
    place "Copenhagen"
    region "DK"
    published_index 48
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 49
    label "Copenhagen 183"
    place "Copenhagen"
    region "DK"
    published_index 49
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 50
    label "Rome 222"
    place "Rome"
    region "IT"
    published_index 50
    Latitude 41.89193
    Longitude 12.51133
  ]
  node [
    id 51
    label "Milan 221"
    place "Milan"
    region "IT"
    published_index 51
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 52
    label "Berlin 160"
    place "Berlin"
    region "DE"
    published_index 52
    Latitude 52.52437
    Longitude 13.41053
  ]
  node [
    id 53
    label "Berlin 161"
    place "Berlin"
    region "DE"
    published_index 53
    Latitude 52.52437
    Longitude 13.41053
  ]
  node [
    id 54
    label "Berlin 259"
    place "Berlin"
    region "DE"
    published_index 54
    Latitude 52.52437
    Longitude 13.41053
  ]
  node [
    id 55
    label "Stockholm 232"
    place "Stockholm"
    region "SE"
    published_index 55
    Latitude 59.32938
    Longitude 18.06871
  ]
  node [
    id 56
    label "Prague 155"
    place "Prague"
    region "CZ"
    published_index 56
    Latitude 50.08804
    Longitude 14.42076
  ]
  node [
    id 57
    label "Geneva 139"
    place "Geneva"
    region "CH"
    published_index 57
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 58
    label "Milan 220"
    place "Milan"
    region "IT"
    published_index 58
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 59
    label "Stockholm 302"
    place "Stockholm"
    region "SE"
    published_index 59
    Latitude 59.32938
    Longitude 18.06871
  ]
  node [
    id 60
    label "Stockholm 303"
    place "Stockholm"
    region "SE"
    published_index 60
    Latitude 59.32938
    Longitude 18.06871
  ]
  node [
    id 61
    label "Copenhagen 270"
    place "Copenhagen"
    region "DK"
    published_index 61
    Latitude 55.67594
    Longitude 12.56553
  ]
  node [
    id 62
    label "Stockholm 304"
    place "Stockholm"
    region "SE"
    published_index 62
    Latitude 59.32938
    Longitude 18.06871
  ]
  node [
    id 63
    label "Amsterdam 297"
    place "Amsterdam"
    region "NL"
    published_index 63
    Latitude 52.37403
    Longitude 4.88969
  ]
  node [
    id 64
    label "Amsterdam 298"
    place "Amsterdam"
    region "NL"
    published_index 64
    Latitude 52.37403
    Longitude 4.88969
  ]
  node [
    id 65
    label "Rotterdam 299"
    place "Rotterdam"
    region "NL"
    published_index 65
    Latitude 51.9225
    Longitude 4.47917
  ]
  node [
    id 66
    label "Geneva 140"
    place "Geneva"
    region "CH"
    published_index 66
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 67
    label "Bratislava 236"
    place "Bratislava"
    region "SK"
    published_index 67
    Latitude 48.14816
    Longitude 17.10674
  ]
  node [
    id 68
    label "Bratislava 237"
    place "Bratislava"
    region "SK"
    published_index 68
    Latitude 48.14816
    Longitude 17.10674
  ]
  node [
    id 69
    label "Prague 157"
    place "Prague"
    region "CZ"
    published_index 69
    Latitude 50.08804
    Longitude 14.42076
  ]
  node [
    id 70
    label "Geneva 141"
    place "Geneva"
    region "CH"
    published_index 70
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 71
    label "Geneva 142"
    place "Geneva"
    region "CH"
    published_index 71
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 72
    label "Vienna 123"
    place "Vienna"
    region "AT"
    published_index 72
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 73
    label "Vienna 124"
    place "Vienna"
    region "AT"
    published_index 73
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 74
    label "Geneva 143"
    place "Geneva"
    region "CH"
    published_index 74
    Latitude 46.20222
    Longitude 6.14569
  ]
  node [
    id 75
    label "Milan 219"
    place "Milan"
    region "IT"
    published_index 75
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 76
    label "Milan 217"
    place "Milan"
    region "IT"
    published_index 76
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 77
    label "Milan 218"
    place "Milan"
    region "IT"
    published_index 77
    Latitude 45.46427
    Longitude 9.18951
  ]
  node [
    id 78
    label "London 200"
    place "London"
    region "GB"
    published_index 78
    Latitude 51.50853
    Longitude -0.12574
  ]
  node [
    id 79
    label "Vienna 125"
    place "Vienna"
    region "AT"
    published_index 79
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 80
    label "Rotterdam 228"
    place "Rotterdam"
    region "NL"
    published_index 80
    Latitude 51.9225
    Longitude 4.47917
  ]
  node [
    id 81
    label "Antwerp 243"
    place "Antwerp"
    region "BE"
    published_index 81
    Latitude 51.22047
    Longitude 4.40026
  ]
  node [
    id 82
    label "Vienna 130"
    place "Vienna"
    region "AT"
    published_index 82
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 83
    label "Barcelona 273"
    place "Barcelona"
    region "ES"
    published_index 83
    Latitude 41.38879
    Longitude 2.15899
  ]
  node [
    id 84
    label "Hamburg 265"
    place "Hamburg"
    region "DE"
    published_index 84
    Latitude 53.55073
    Longitude 9.99302
  ]
  node [
    id 85
    label "Vienna 241"
    place "Vienna"
    region "AT"
    published_index 85
    Latitude 48.20849
    Longitude 16.37208
  ]
  node [
    id 86
    label "Antwerp 137"
    place "Antwerp"
    region "BE"
    published_index 86
    Latitude 51.22047
    Longitude 4.40026
  ]
  edge [
    source 0
    target 1
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 0
    target 2
    distance 5585.225518295436
    published_distance 5585.2523724107405
  ]
  edge [
    source 0
    target 3
    distance 358.00785256161964
    published_distance 358.40050051031875
  ]
  edge [
    source 0
    target 4
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 0
    target 5
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 0
    target 6
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 0
    target 7
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 0
    target 8
    distance 344.13671929608245
    published_distance 343.87368318399024
  ]
  edge [
    source 0
    target 9
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 0
    target 10
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 1
    target 10
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 1
    target 4
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 1
    target 6
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 1
    target 19
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 2
    target 17
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 2
    target 18
    distance 5585.225518295436
    published_distance 5585.2523724107405
  ]
  edge [
    source 2
    target 19
    distance 5585.225518295436
    published_distance 5585.2523724107405
  ]
  edge [
    source 3
    target 32
    distance 173.60365795686457
    published_distance 173.90384613659498
  ]
  edge [
    source 3
    target 39
    distance 182.71237920961755
    published_distance 182.10194095251893
  ]
  edge [
    source 3
    target 42
    distance 365.06312782252746
    published_distance 365.048785326527
  ]
  edge [
    source 3
    target 80
    distance 57.56604647006216
    published_distance 58.08379836073154
  ]
  edge [
    source 3
    target 18
    distance 358.00785256161964
    published_distance 358.40050051031875
  ]
  edge [
    source 3
    target 19
    distance 358.00785256161964
    published_distance 358.40050051031875
  ]
  edge [
    source 4
    target 9
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 4
    target 34
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 5
    target 34
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 7
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 78
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 18
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 5
    target 46
    distance 344.13671929608245
    published_distance 343.87368318399024
  ]
  edge [
    source 6
    target 34
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 6
    target 7
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 6
    target 78
    distance 44.688405670328656
    published_distance 45.29769609847814
  ]
  edge [
    source 7
    target 18
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 7
    target 19
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 8
    target 30
    distance 264.6008081297369
    published_distance 263.9414346297288
  ]
  edge [
    source 8
    target 57
    distance 410.5507249141536
    published_distance 410.7531371481551
  ]
  edge [
    source 8
    target 17
    distance 5852.736948257437
    published_distance 5852.886744136188
  ]
  edge [
    source 8
    target 66
    distance 410.5507249141536
    published_distance 410.7531371481551
  ]
  edge [
    source 8
    target 70
    distance 410.5507249141536
    published_distance 410.7531371481551
  ]
  edge [
    source 8
    target 71
    distance 410.5507249141536
    published_distance 410.7531371481551
  ]
  edge [
    source 8
    target 74
    distance 410.5507249141536
    published_distance 410.7531371481551
  ]
  edge [
    source 8
    target 18
    distance 344.13671929608245
    published_distance 343.87368318399024
  ]
  edge [
    source 8
    target 46
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 8
    target 19
    distance 344.13671929608245
    published_distance 343.87368318399024
  ]
  edge [
    source 9
    target 34
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 9
    target 19
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 10
    target 12
    distance 262.163199649916
    published_distance 262.35674108226357
  ]
  edge [
    source 10
    target 34
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 11
    target 12
    distance 985.7915050734208
    published_distance 986.7810514672525
  ]
  edge [
    source 11
    target 13
    distance 523.4757961659287
    published_distance 522.0769233264602
  ]
  edge [
    source 11
    target 14
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 11
    target 15
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 11
    target 16
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 12
    target 48
    distance 985.7915050734208
    published_distance 986.7810514672525
  ]
  edge [
    source 12
    target 14
    distance 985.7915050734208
    published_distance 986.7810514672525
  ]
  edge [
    source 12
    target 15
    distance 985.7915050734208
    published_distance 986.7810514672525
  ]
  edge [
    source 12
    target 49
    distance 985.7915050734208
    published_distance 986.7810514672525
  ]
  edge [
    source 12
    target 39
    distance 663.170033053356
    published_distance 663.3087904311211
  ]
  edge [
    source 13
    target 60
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 13
    target 55
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 15
    target 59
    distance 523.4757961659287
    published_distance 522.0769233264602
  ]
  edge [
    source 15
    target 62
    distance 523.4757961659287
    published_distance 522.0769233264602
  ]
  edge [
    source 15
    target 61
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 16
    target 62
    distance 523.4757961659287
    published_distance 522.0769233264602
  ]
  edge [
    source 20
    target 21
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 20
    target 22
    distance 612.3886918937444
    published_distance 611.4470385631118
  ]
  edge [
    source 20
    target 23
    distance 487.2533189459699
    published_distance 487.59260997892295
  ]
  edge [
    source 21
    target 24
    distance 505.1270710692435
    published_distance 503.98169486969493
  ]
  edge [
    source 21
    target 25
    distance 356.778663692401
    published_distance 356.8202498271311
  ]
  edge [
    source 21
    target 26
    distance 356.778663692401
    published_distance 356.8202498271311
  ]
  edge [
    source 21
    target 27
    distance 487.2533189459699
    published_distance 487.59260997892295
  ]
  edge [
    source 21
    target 28
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 21
    target 29
    distance 356.778663692401
    published_distance 356.8202498271311
  ]
  edge [
    source 22
    target 27
    distance 338.97968543674733
    published_distance 339.0830119214683
  ]
  edge [
    source 22
    target 23
    distance 338.97968543674733
    published_distance 339.0830119214683
  ]
  edge [
    source 22
    target 84
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 23
    target 27
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 23
    target 35
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 23
    target 39
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 24
    target 52
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 24
    target 53
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 25
    target 72
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 25
    target 79
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 25
    target 82
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 26
    target 29
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 26
    target 54
    distance 524.174478340616
    published_distance 524.0811741028135
  ]
  edge [
    source 27
    target 35
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 27
    target 36
    distance 182.52206917845257
    published_distance 183.10357972376826
  ]
  edge [
    source 27
    target 37
    distance 182.52206917845257
    published_distance 183.10357972376826
  ]
  edge [
    source 27
    target 38
    distance 560.2896827089515
    published_distance 560.5627089717792
  ]
  edge [
    source 27
    target 39
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 28
    target 40
    distance 304.7939319767312
    published_distance 304.5360201551259
  ]
  edge [
    source 28
    target 79
    distance 356.778663692401
    published_distance 356.8202498271311
  ]
  edge [
    source 29
    target 72
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 29
    target 79
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 29
    target 54
    distance 524.174478340616
    published_distance 524.0811741028135
  ]
  edge [
    source 29
    target 82
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 30
    target 31
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 30
    target 32
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 30
    target 33
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 31
    target 32
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 31
    target 47
    distance 41.322414885505346
    published_distance 41.804427254041734
  ]
  edge [
    source 32
    target 33
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 33
    target 47
    distance 41.322414885505346
    published_distance 41.804427254041734
  ]
  edge [
    source 35
    target 52
    distance 478.8940197178561
    published_distance 477.37170529187216
  ]
  edge [
    source 35
    target 39
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 35
    target 42
    distance 182.52206917845257
    published_distance 183.10357972376826
  ]
  edge [
    source 36
    target 40
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 36
    target 41
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 36
    target 42
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 37
    target 40
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 37
    target 41
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 37
    target 42
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 40
    target 41
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 40
    target 42
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 40
    target 43
    distance 474.27516460916615
    published_distance 473.7406026620935
  ]
  edge [
    source 40
    target 44
    distance 474.27516460916615
    published_distance 473.7406026620935
  ]
  edge [
    source 40
    target 45
    distance 474.27516460916615
    published_distance 473.7406026620935
  ]
  edge [
    source 40
    target 46
    distance 479.8647129941259
    published_distance 479.27934756794303
  ]
  edge [
    source 41
    target 42
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 43
    target 57
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 43
    target 66
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 43
    target 75
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 43
    target 76
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 43
    target 77
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 44
    target 66
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 44
    target 75
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 45
    target 57
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 45
    target 70
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 45
    target 71
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 45
    target 76
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 45
    target 77
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 46
    target 86
    distance 301.5002257334274
    published_distance 301.12820169530966
  ]
  edge [
    source 47
    target 81
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 50
    target 51
    distance 478.7402841209073
    published_distance 477.5208467748804
  ]
  edge [
    source 51
    target 58
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 52
    target 53
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 52
    target 54
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 53
    target 55
    distance 811.2123528043371
    published_distance 812.0818733665999
  ]
  edge [
    source 53
    target 56
    distance 280.0493056636122
    published_distance 279.716492174776
  ]
  edge [
    source 55
    target 59
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 56
    target 67
    distance 291.4875747729368
    published_distance 291.2472458498337
  ]
  edge [
    source 56
    target 68
    distance 291.4875747729368
    published_distance 291.2472458498337
  ]
  edge [
    source 56
    target 69
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 57
    target 58
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 58
    target 66
    distance 250.29153571086005
    published_distance 250.18436924032753
  ]
  edge [
    source 59
    target 60
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 60
    target 61
    distance 523.4757961659287
    published_distance 522.0769233264602
  ]
  edge [
    source 63
    target 64
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 63
    target 65
    distance 57.56604647006216
    published_distance 58.08379836073154
  ]
  edge [
    source 64
    target 65
    distance 57.56604647006216
    published_distance 58.08379836073154
  ]
  edge [
    source 65
    target 80
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 65
    target 81
    distance 78.29864907339467
    published_distance 78.2040344180888
  ]
  edge [
    source 69
    target 72
    distance 252.88088666312808
    published_distance 252.83832253951033
  ]
  edge [
    source 69
    target 73
    distance 252.88088666312808
    published_distance 252.83832253951033
  ]
  edge [
    source 72
    target 79
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 73
    target 82
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 77
    target 83
    distance 726.9234009313916
    published_distance 726.41538789814
  ]
  edge [
    source 79
    target 82
    distance 0.0
    published_distance 0.0
  ]
  edge [
    source 84
    target 85
    distance 744.1895801832931
    published_distance 742.9090550792507
  ]
]
